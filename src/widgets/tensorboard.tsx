import { IThemeManager } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import { TranslationBundle } from '@jupyterlab/translation';
import { IFrame, ReactWidget } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { ISignal, Signal } from '@lumino/signaling';
import { Panel, PanelLayout } from '@lumino/widgets';
import * as React from 'react';
import { ApiError } from '../api/client';
import { TensorBoard } from '../api/types';
import {
  ITensorBoardView,
  TensorBoardPage,
  TensorBoardToolbar
} from '../components/tensorboard/TensorBoardView';
import { tensorBoardIcon } from '../icons';
import { preferAutoReload, pressReload, themedUrl } from '../model/tensorboard';
import { IJobs } from '../tokens';

/** How often to ask whether it has read the event files (ms), and how many times. */
const READ_INTERVAL = 1000;
const READ_TRIES = 20;

/** It looks for new data every 5 s; so much later (ms) the page can show what was written. */
const NEW_DATA_DELAY = 6000;

/** What a tab shows: a job's log directories, or a folder. Survives a reload of the page. */
export interface ITensorBoardSource {
  jobId?: string;
  paths?: string[];
}

interface ITensorBoardOptions {
  source: ITensorBoardSource;
  jobs: IJobs;
  commands: CommandRegistry;
  themes: IThemeManager | null;
  trans: TranslationBundle;
}

/**
 * A TensorBoard in a tab: our toolbar, its page, and what is said when there is no page.
 *
 * The frame is made once and kept, also while the tab is hidden.
 */
export class TensorBoardWidget extends Panel implements ITensorBoardView {
  constructor(options: ITensorBoardOptions) {
    super();
    const { jobs, commands, source, themes, trans } = options;
    this.source = source;
    this.jobs = jobs;
    this._themes = themes;
    this._trans = trans;
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-TensorBoard');
    this.title.icon = tensorBoardIcon;
    this.title.label = trans.__('TensorBoard');
    this.title.closable = true;
    this.node.tabIndex = -1;
    const run = (command: string, args = {}): void => {
      void commands.execute(command, args);
    };
    this._toolbar = ReactWidget.create(
      <TensorBoardToolbar view={this} run={run} trans={trans} />
    );
    this._page = ReactWidget.create(
      <TensorBoardPage view={this} run={run} trans={trans} />
    );
    this._toolbar.addClass('jp-t9k-TensorBoard-toolbar');
    this._page.addClass('jp-t9k-TensorBoard-page');
    this.addWidget(this._toolbar);
    this.addWidget(this._page);
    jobs.changed.connect(this._onChange, this);
    themes?.themeChanged.connect(this.reload, this);
    void this.open();
  }

  readonly source: ITensorBoardSource;
  readonly jobs: IJobs;

  /** As the server pushed it last; null before the first answer, and after it was stopped. */
  get board(): TensorBoard | null {
    return this._board;
  }

  /** Why it could not be opened. */
  get error(): ApiError | null {
    return this._error;
  }

  get isOpening(): boolean {
    return this._isOpening;
  }

  /** There are event files, but its page would still be empty. */
  get isReading(): boolean {
    return this._isReading;
  }

  /** Anything that is shown has changed. */
  get changed(): ISignal<ITensorBoardView, void> {
    return this._changed;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      window.clearTimeout(this._newData);
      Signal.clearData(this);
      super.dispose();
    }
  }

  /** Ask the server for it; one that runs is used again. */
  async open(): Promise<void> {
    const { jobId, paths } = this.source;
    await this._ask(() =>
      this.jobs.api.openTensorBoard(
        jobId !== undefined ? { job_id: jobId } : { paths }
      )
    );
  }

  /** Start its process anew; the tab stays. */
  async restart(): Promise<void> {
    const id = this._board?.id;
    if (id === undefined) {
      return this.open();
    }
    await this._ask(() => this.jobs.api.restartTensorBoard(id));
    this.reload();
  }

  /** Load the page again, at the same place and in the lab's theme. */
  reload(): void {
    const page = this._frame?.node.querySelector('iframe')?.contentWindow;
    if (page && this._board) {
      const { location } = page;
      const target = new URL(this._url(this._board), location.href);
      target.hash = location.hash;
      if (target.href === location.href) {
        location.reload();
      } else {
        location.replace(target);
      }
    }
  }

  /** The lab takes the widget with the focus for the one in front. */
  protected override onActivateRequest(): void {
    this.node.focus();
  }

  private async _ask(request: () => Promise<TensorBoard>): Promise<void> {
    this._isOpening = true;
    this._error = null;
    this._changed.emit();
    try {
      this._board = await request();
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      this._error = error;
    } finally {
      this._isOpening = false;
    }
    this._onChange();
    this._update();
  }

  private _onChange(): void {
    const { _board: board } = this;
    if (!board || this._isOpening) {
      return;
    }
    const now = this.jobs.tensorboards.find(({ id }) => id === board.id);
    if (now) {
      this._wasListed = true;
      this._board = now;
      if (now.last_data_at !== board.last_data_at) {
        this._showNewData();
      }
    } else if (this._wasListed && this.jobs.connection.state === 'open') {
      this._board = null;
      this._wasListed = false;
      this._frame?.dispose();
      this._frame = null;
    }
    this._update();
  }

  private _update(): void {
    if (this.isDisposed) {
      return;
    }
    const { _board: board } = this;
    if (board) {
      this.title.label = this._trans.__('TB: %1', board.label);
      this.title.caption = board.log_dirs.join('\n');
    }
    const shows =
      board !== null && board.has_data && /running|idle/.test(board.status);
    if (shows && !this._frame && !this._isReading) {
      void this._read(board);
    }
    this._frame?.setHidden(!shows);
    this._page.setHidden(shows && this._frame !== null);
    this._changed.emit();
  }

  /** Make the frame once its page has something to show. */
  private async _read(board: TensorBoard): Promise<void> {
    this._isReading = true;
    this._changed.emit();
    const wanted = (): boolean =>
      !this.isDisposed && this._board?.id === board.id;
    for (let i = 0; i < READ_TRIES && wanted(); i++) {
      try {
        if ((await this.jobs.api.tensorBoardRuns(board.id)).length > 0) {
          break;
        }
      } catch (error) {
        // If it never answers, its page shows why.
        console.warn('t9kjob: TensorBoard:', error);
      }
      await new Promise(resolve => window.setTimeout(resolve, READ_INTERVAL));
    }
    this._isReading = false;
    if (wanted()) {
      this._frame = this._createFrame(board);
    }
    this._update();
  }

  /** The page by itself would look after 30 s only. */
  private _showNewData(): void {
    if (this._frame && !this._newData) {
      this._newData = window.setTimeout(() => {
        this._newData = 0;
        const page = this._frame?.node.querySelector('iframe')?.contentDocument;
        if (page && this.isVisible && preferAutoReload(window.localStorage)) {
          pressReload(page);
        }
      }, NEW_DATA_DELAY);
    }
  }

  private _createFrame(board: TensorBoard): IFrame {
    preferAutoReload(window.localStorage);
    const frame = new IFrame({
      sandbox: [
        'allow-scripts',
        'allow-same-origin',
        'allow-forms',
        'allow-popups',
        'allow-downloads'
      ]
    });
    frame.addClass('jp-t9k-TensorBoard-frame');
    frame.url = this._url(board);
    frame.node
      .querySelector('iframe')
      ?.setAttribute('title', this._trans.__('TensorBoard'));
    (this.layout as PanelLayout).addWidget(frame);
    return frame;
  }

  private _url(board: TensorBoard): string {
    const { baseUrl } = this.jobs.api.serverSettings;
    const theme = this._themes?.theme;
    const dark = theme ? !this._themes?.isLight(theme) : false;
    return themedUrl(URLExt.join(baseUrl, board.url), dark);
  }

  private readonly _themes: IThemeManager | null;
  private readonly _trans: TranslationBundle;
  private readonly _toolbar: ReactWidget;
  private readonly _page: ReactWidget;
  private _frame: IFrame | null = null;
  private _board: TensorBoard | null = null;
  private _error: ApiError | null = null;
  private _isOpening = false;
  private _isReading = false;
  private _newData = 0;
  private _wasListed = false;
  private _changed = new Signal<this, void>(this);
}
