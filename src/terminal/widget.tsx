/** Content of a terminal's tab: JupyterLab's terminal, and a notice above it when the shell has ended. */
import { IThemeManager } from '@jupyterlab/apputils';
import { ServerConnection } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITerminal, Terminal } from '@jupyterlab/terminal';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, terminalIcon } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { Panel } from '@lumino/widgets';
import * as React from 'react';
import { Banner } from '../ui/Banner';
import { LinkButton } from '../ui/Buttons';
import { IShellPlace, ShellConnection } from './connection';
import '../../style/terminal.css';
import { sentences } from '../common/format';

/** Settings of JupyterLab's own terminals. */
const SETTINGS = '@jupyterlab/terminal-extension:plugin';

/** Parts of the lab that a terminal's tab uses. */
export interface ITerminalLab {
  serverSettings: ServerConnection.ISettings;
  settings: ISettingRegistry | null;
  themes: IThemeManager | null;
  translator: ITranslator | null;
  trans: TranslationBundle;
}

/** Content of a terminal's tab. The shell ends when the tab is closed, or when the connection is lost. */
export class TerminalView extends Panel {
  /**
   * @param place - Job, replica and rank.
   * @param lab - Services of the lab.
   * @param begin - True to start a shell; false in a restored tab, whose shell has ended.
   */
  constructor(
    readonly place: IShellPlace,
    private readonly _lab: ITerminalLab,
    begin: boolean
  ) {
    super();
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-Terminal');
    this.node.tabIndex = -1;
    this.title.closable = true;
    this.title.icon = terminalIcon;
    this.title.label = titleOf(place, _lab.trans);
    this.addWidget(this._notice);
    _lab.themes?.themeChanged.connect(this._onTheme, this);
    if (begin) {
      void this.start();
    }
  }

  override dispose(): void {
    this._connection?.dispose();
    super.dispose();
  }

  /** Start a shell; it replaces one that has ended. */
  async start(): Promise<void> {
    if (
      this._connection &&
      this._connection.connectionStatus !== 'disconnected'
    ) {
      return;
    }
    this._terminal?.dispose();
    const { serverSettings, translator } = this._lab;
    const connection = new ShellConnection(serverSettings, this.place);
    this._connection = connection;
    this._notice.update();
    connection.connectionStatusChanged.connect(() => this._notice.update());
    const options = await this._options();
    if (this.isDisposed || connection !== this._connection) {
      connection.dispose();
      return;
    }
    const terminal = new Terminal(connection, options, translator ?? undefined);
    this._terminal = terminal;
    this.addWidget(terminal);
    await terminal.ready;
    if (!terminal.isDisposed) {
      terminal.node
        .querySelector('textarea')
        ?.setAttribute('aria-label', this.title.label);
      if (this.node.contains(document.activeElement)) {
        terminal.activate();
      }
    }
  }

  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    this.dispose(); // a new tab is made when the terminal is opened again
  }

  protected override onActivateRequest(): void {
    if (
      this._terminal &&
      this._connection?.connectionStatus !== 'disconnected'
    ) {
      this._terminal.activate();
    } else {
      this.node.querySelector('button')?.focus();
    }
  }

  /** Return the user's settings of terminals, as far as they concern the look. */
  private async _options(): Promise<Partial<ITerminal.IOptions>> {
    const own = { shutdownOnClose: true, closeOnExit: false };
    try {
      const loaded = await this._lab.settings?.load(SETTINGS);
      const look = (loaded?.composite ?? {}) as Partial<ITerminal.IOptions>;
      return { ...look, ...own };
    } catch {
      return own; // the lab has no terminals of its own
    }
  }

  private _onTheme(): void {
    const terminal = this._terminal;
    if (terminal && terminal.getOption('theme') === 'inherit') {
      terminal.setOption('theme', 'inherit');
    }
  }

  private _render(): React.JSX.Element {
    return (
      <Notice
        connection={this._connection}
        place={this.place}
        start={() => {
          void this.start();
          this.node.focus();
        }}
        trans={this._lab.trans}
      />
    );
  }

  private readonly _notice = new NoticeWidget(() => this._render());
  private _connection: ShellConnection | null = null;
  private _terminal: Terminal | null = null;
}

/** Widget of the notice. */
class NoticeWidget extends ReactWidget {
  constructor(private readonly _content: () => React.JSX.Element) {
    super();
    this.addClass('jp-t9k-Terminal-notice');
  }

  protected override render(): React.JSX.Element {
    return this._content();
  }
}

/** Says that the shell is being started or why it has ended, and offers a new one. */
function Notice({
  connection,
  place,
  start,
  trans
}: {
  connection: ShellConnection | null;
  place: IShellPlace;
  start(): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  const status = connection?.connectionStatus;
  if (status === 'connected') {
    return <></>;
  }
  if (status === 'connecting') {
    return (
      <p className="jp-t9k-Terminal-wait" role="status">
        {trans.__('Starting a shell in %1…', placeOf(place, trans))}
      </p>
    );
  }
  const end = connection?.end;
  const lost = trans.__('The connection was lost, and the shell has ended.');
  const restored = trans.__('The shell of this terminal has ended.');
  const byItself = end?.code === 'Exited';
  return (
    <Banner
      level={connection && !byItself ? 'warning' : 'info'}
      title={end?.message ?? (connection ? lost : restored)}
      actions={
        <LinkButton onClick={start}>
          {trans.__('Open a new terminal')}
        </LinkButton>
      }
    >
      {sentences([end?.hint, end?.verbatim])}
    </Banner>
  );
}

/** Return a replica or rank in words. */
export function placeOf(
  { replica, rank }: Pick<IShellPlace, 'replica' | 'rank'>,
  trans: TranslationBundle
): string {
  return rank === null ? replica : trans.__('rank %1 of %2', rank, replica);
}

/** Return the title of a terminal's tab. */
function titleOf(place: IShellPlace, trans: TranslationBundle): string {
  const name = place.id.split(':')[2] ?? place.id;
  return trans.__('%1: %2', name, placeOf(place, trans));
}
