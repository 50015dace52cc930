import { IThemeManager } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import { TranslationBundle } from '@jupyterlab/translation';
import { IFrame, ReactWidget } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import { Panel, PanelLayout } from '@lumino/widgets';
import * as React from 'react';
import { ApiError } from '../api/client';
import { TensorBoard } from '../api/types';
import { TensorBoardToolbar } from './view/TensorBoardToolbar';
import { ITensorBoardView } from './view/tensorBoardTab';
import { TensorBoardPage } from './view/TensorBoardView';
import { tensorBoardIcon } from '../ui/icons';
import { serverNow } from '../common/clock';
import {
  frameRefusals,
  ITensorBoardSource,
  preferSettings,
  pressReload,
  tellVisibility,
  themedUrl
} from './model/tensorboard';
import { IJobsModel } from '../tokens';
import '../../style/pages.css';

/** How often to ask whether it has read the event files (ms), and how many times. */
const READ_INTERVAL = 1000;
const READ_TRIES = 20;

/** It looks for new data every 5 s; so much later (ms) the page can show what was written. */
const NEW_DATA_DELAY = 6000;

interface ITensorBoardOptions {
  source: ITensorBoardSource;
  jobs: IJobsModel;
  commands: CommandRegistry;
  themes: IThemeManager | null;
  trans: TranslationBundle;
}

/**
 * The content of a TensorBoard's tab: our toolbar, its page, and what is said when there is no page.
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
  readonly jobs: IJobsModel;

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

  /** Since when there are event files, but its page would still be empty (s); null if that is not so. */
  get readingSince(): number | null {
    return this._readingSince;
  }

  /** Headers that forbid the frame, as far as they are known; null if the browser shows the frame. */
  get refusals(): readonly string[] | null {
    return this._refusals;
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
  }

  /** Load the page again, at the same place and in the lab's theme. */
  reload(): void {
    const iframe = this._iframe;
    if (!iframe || !this._board) {
      return;
    }
    const page = iframe.contentDocument && iframe.contentWindow;
    if (!page) {
      iframe.src = this._url(this._board); // the browser's own page stands there
    } else {
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

  /** Show its page in a tab of the browser. */
  openInBrowser(): void {
    if (this._board) {
      const { baseUrl } = this.jobs.api.serverSettings;
      const url = URLExt.join(baseUrl, this._board.url);
      window.open(url, '_blank', 'noopener');
    }
  }

  /** The lab takes the widget with the focus for the one in front. */
  protected override onActivateRequest(): void {
    this.node.focus();
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._tellVisibility();
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this._tellVisibility();
  }

  private _tellVisibility(): void {
    const page = this._iframe?.contentDocument;
    if (page) {
      tellVisibility(page, this.isVisible);
    }
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
    if (this._isOpening || this._hasComeBack()) {
      return;
    }
    const { _board: board } = this;
    if (!board) {
      return;
    }
    const now = this.jobs.tensorboards.find(({ id }) => id === board.id);
    if (now === board) {
      return; // what has changed is something else
    }
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
      this._refusals = null;
    } else {
      return;
    }
    this._update();
  }

  /** Open it again if the server has been away, and knows nothing of it now: that is another server. */
  private _hasComeBack(): boolean {
    const { connection, tensorboards } = this.jobs;
    if (connection.state !== 'open') {
      this._lost ??= tensorboards;
    } else if (this._lost !== null && this._lost !== tensorboards) {
      // The list of a new connection.
      this._lost = null;
      const id = this._board?.id;
      const isKnown = tensorboards.some(known => known.id === id);
      if (this._error?.status === 0 || (id !== undefined && !isKnown)) {
        this._wasListed = false;
        void this.open();
        return true;
      }
    }
    return false;
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
      board !== null &&
      this._error === null &&
      board.has_data &&
      /running|idle/.test(board.status);
    if (shows && this._readingSince === null && this._hasUnread(board)) {
      void this._read(board);
    }
    const isReady =
      shows &&
      this._frame !== null &&
      this._readingSince === null &&
      this._refusals === null;
    this._frame?.setHidden(!isReady);
    this._page.setHidden(isReady);
    this._changed.emit();
  }

  /** Its process has started after the page was filled last. */
  private _hasUnread({ status, started_at }: TensorBoard): boolean {
    return (
      !this._frame || (status === 'running' && started_at !== this._startOfPage)
    );
  }

  /** Make the frame, or fill it anew, once its page has something to show. */
  private async _read(board: TensorBoard): Promise<void> {
    this._readingSince = serverNow();
    this._changed.emit();
    const wanted = (): boolean =>
      !this.isDisposed &&
      this._board?.id === board.id &&
      /running|idle/.test(this._board.status);
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
    this._readingSince = null;
    if (wanted()) {
      this._startOfPage = this._board?.started_at ?? null;
      if (!this._frame) {
        this._frame = this._createFrame(board);
      } else {
        this._refresh();
      }
    }
    this._update();
  }

  /** Have the page ask again for everything, and keep the rest as it is. */
  private _refresh(): void {
    const page = this._iframe?.contentDocument;
    if (!page || !pressReload(page)) {
      this.reload();
    }
  }

  /** The page by itself would look after 30 s only. */
  private _showNewData(): void {
    if (this._frame && !this._newData) {
      this._newData = window.setTimeout(() => {
        this._newData = 0;
        const page = this._iframe?.contentDocument;
        if (page && this.isVisible && preferSettings(window.localStorage)) {
          pressReload(page);
        }
      }, NEW_DATA_DELAY);
    }
  }

  private _createFrame(board: TensorBoard): IFrame {
    preferSettings(window.localStorage);
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
    const node = frame.node.querySelector('iframe');
    node?.setAttribute('title', this._trans.__('TensorBoard'));
    node?.addEventListener('load', () => void this._onLoad());
    (this.layout as PanelLayout).addWidget(frame);
    return frame;
  }

  /**
   * See what the frame shows.
   *
   * A browser that refuses to show the page shows one of its own, which is of another origin.
   */
  private async _onLoad(): Promise<void> {
    if (this._iframe?.contentDocument) {
      this._tellVisibility();
      this._refusals = null;
    } else if (this._board) {
      this._refusals = await frameRefusals(this._url(this._board)).catch(
        () => []
      );
    }
    this._update();
  }

  private get _iframe(): HTMLIFrameElement | null {
    return this._frame?.node.querySelector('iframe') ?? null;
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
  private _refusals: string[] | null = null;
  private _readingSince: number | null = null;
  /** When the process began from which the page was filled. */
  private _startOfPage: number | null = null;
  /** The list as it was when the connection broke; null while it stands. */
  private _lost: readonly TensorBoard[] | null = null;
  private _newData = 0;
  private _wasListed = false;
  private _changed = new Signal<this, void>(this);
}
