/** Model of a TensorBoard's tab. */

import { URLExt } from '@jupyterlab/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError } from '../../api/errors';
import { TensorBoard } from '../../api/types';
import { serverNow } from '../../common/clock';
import { IJobsModel } from '../../tokens';
import { ITensorBoardSource } from './source';

/** Interval in ms and maximum number of the requests that check whether TensorBoard has read the event files. */
const READ_INTERVAL = 1000;
const READ_TRIES = 20;

/** The content of TensorBoard's page. A new object means that the page has to be loaded again. */
export interface IPageContent {
  /** Start time of the process that provided the page. */
  readonly startedAt: number | null;
}

/**
 * State of a TensorBoard's tab: the process on the server, and the data of its page.
 *
 * The model starts the process when it is created, or uses a running one.
 */
export class TensorBoardModel implements IDisposable {
  constructor(
    readonly source: ITensorBoardSource,
    readonly jobs: IJobsModel
  ) {
    jobs.changed.connect(this._onJobs, this);
    void this.open();
  }

  /** The last known state of the process; null before the first answer and after the process has stopped. */
  get board(): TensorBoard | null {
    return this._board;
  }

  /** The error of the last request; null if it succeeded. */
  get error(): ApiError | null {
    return this._error;
  }

  /** True while the server starts or restarts the process. */
  get isOpening(): boolean {
    return this._isOpening;
  }

  /**
   * Time at which TensorBoard began to read the event files, in seconds; null if it has read them or has not begun.
   */
  get readingSince(): number | null {
    return this._readingSince;
  }

  /** The content of the page; null while the page has no data. */
  get content(): IPageContent | null {
    return this._content;
  }

  /** Known headers that forbid the browser to show the page in a frame; null if the browser shows it. */
  get refusals(): readonly string[] | null {
    return this._refusals;
  }

  set refusals(refusals: readonly string[] | null) {
    this._refusals = refusals;
    this._update();
  }

  /** True if the page is shown; false if a message replaces it. */
  get isPageShown(): boolean {
    return (
      this._hasPage() &&
      this._content !== null &&
      this._readingSince === null &&
      this._refusals === null
    );
  }

  /** URL of the page; null without a process. */
  get url(): string | null {
    const { baseUrl } = this.jobs.api.serverSettings;
    return this._board && URLExt.join(baseUrl, this._board.url);
  }

  /** Emitted when any shown data has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted when new data was written to the event files of the running process. */
  get dataArrived(): ISignal<this, void> {
    return this._dataArrived;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** Request the process from the server, which starts it or returns a running one. */
  async open(): Promise<void> {
    const { jobId, paths } = this.source;
    await this._ask(() =>
      this.jobs.api.openTensorBoard(
        jobId !== undefined ? { job_id: jobId } : { paths }
      )
    );
  }

  /** Replace the process with a new one; the tab stays open. */
  async restart(): Promise<void> {
    const id = this._board?.id;
    if (id === undefined) {
      return this.open();
    }
    await this._ask(() => this.jobs.api.restartTensorBoard(id));
  }

  /** Open the page in a new browser tab. */
  openInBrowser(): void {
    if (this.url !== null) {
      window.open(this.url, '_blank', 'noopener');
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
    this._onJobs();
    this._update();
  }

  /** Update the process from the list that the server pushes. */
  private _onJobs(): void {
    if (this._isOpening || this._hasComeBack()) {
      return;
    }
    const { _board: board } = this;
    if (!board) {
      return;
    }
    const now = this.jobs.tensorboards.find(({ id }) => id === board.id);
    if (now === board) {
      return; // the change does not concern this process
    }
    if (now) {
      this._wasListed = true;
      this._board = now;
      if (now.last_data_at !== board.last_data_at) {
        this._dataArrived.emit();
      }
    } else if (this._wasListed && this.jobs.connection.state === 'open') {
      this._board = null;
      this._wasListed = false;
      this._content = null;
      this._refusals = null;
    } else {
      return;
    }
    this._update();
  }

  /**
   * Open the process again if the connection is restored and the server does not know the process, because the
   * server was restarted, or did not answer the last request.
   *
   * @returns True if the process is opened again.
   */
  private _hasComeBack(): boolean {
    const { connection, tensorboards } = this.jobs;
    if (connection.state !== 'open') {
      this._lost ??= tensorboards;
    } else if (this._lost !== null && this._lost !== tensorboards) {
      // The server has sent the list of the new connection.
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
    if (this._isDisposed) {
      return;
    }
    if (this._board && this._readingSince === null && this._hasUnread()) {
      void this._read(this._board);
    }
    this._changed.emit();
  }

  /** Return true if the process runs and has data. */
  private _hasPage(): boolean {
    const { _board: board } = this;
    return (
      board !== null &&
      this._error === null &&
      board.has_data &&
      /running|idle/.test(board.status)
    );
  }

  /** Return true if the process was started after the page was last loaded. */
  private _hasUnread(): boolean {
    const { _board: board, _content: content } = this;
    return (
      this._hasPage() &&
      (content === null ||
        (board?.status === 'running' && board.started_at !== content.startedAt))
    );
  }

  /** Wait until TensorBoard has read the first data, then have the page loaded. */
  private async _read(board: TensorBoard): Promise<void> {
    this._readingSince = serverNow();
    this._changed.emit();
    const wanted = (): boolean =>
      !this._isDisposed &&
      this._board?.id === board.id &&
      /running|idle/.test(this._board.status);
    for (let i = 0; i < READ_TRIES && wanted(); i++) {
      try {
        if ((await this.jobs.api.tensorBoardRuns(board.id)).length > 0) {
          break;
        }
      } catch (error) {
        // If TensorBoard never answers, the page shows the reason.
        console.warn('t9kjob: TensorBoard:', error);
      }
      await new Promise(resolve => window.setTimeout(resolve, READ_INTERVAL));
    }
    this._readingSince = null;
    if (wanted()) {
      this._content = { startedAt: this._board?.started_at ?? null };
    }
    this._update();
  }

  private _board: TensorBoard | null = null;
  private _error: ApiError | null = null;
  private _isOpening = false;
  private _refusals: readonly string[] | null = null;
  private _readingSince: number | null = null;
  private _content: IPageContent | null = null;
  /** The list of TensorBoards at the moment when the connection was lost; null while the connection is open. */
  private _lost: readonly TensorBoard[] | null = null;
  /**
   * True if the server's list has contained the process; a process that then disappears from the list has stopped.
   */
  private _wasListed = false;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _dataArrived = new Signal<this, void>(this);
}
