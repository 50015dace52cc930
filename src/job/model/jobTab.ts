/** State of a job's tab: panes, log and settings of the views. */
import { IStateDB } from '@jupyterlab/statedb';
import { JSONObject } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { JsonSocket } from '../../api/stream';
import { LogMessage, LogRequest } from '../../api/types';
import { IJobsModel, IJobWatch } from '../../tokens';
import { JobPane } from './jobPanes';
import { showAddress } from '../../logs/model/address';
import { LogModel } from '../../logs/model/log';
import { LogSearch } from '../../logs/model/search';
import { LogSession } from '../../logs/loading/session';
import { ILogFilter, SHOW_ALL } from '../../logs/loading/streams';

/** Manifests that the tab shows. */
export type ManifestLook = 'both' | 'submitted' | 'current';

/** State of a job's tab that is kept over a reload. */
export interface IJobTabState {
  pane: JobPane;
  filter: ILogFilter;
  /** True if the timeline shows raw events. */
  rawEvents: boolean;
  /** True if the log shows times. */
  times: boolean;
  /** True if the log wraps long lines. */
  wrap: boolean;
  /** The shown manifests. */
  manifestLook: ManifestLook;
  /** True if manifests are shown without the parts that only the cluster writes. */
  hideServerParts: boolean;
}

const DEFAULTS: IJobTabState = {
  pane: 'overview',
  filter: SHOW_ALL,
  rawEvents: false,
  times: true,
  wrap: false,
  manifestLook: 'both',
  hideServerParts: true
};

/** Key of the tabs' states in the state database. */
const STATE_KEY = 'jupyterlab_t9kjob:job-tabs';
/** Maximum number of jobs whose tabs' states are kept; the least recently changed state is dropped first. */
const REMEMBERED = 50;

/**
 * Keeps the states of job tabs over a reload. The pane, the filter and the kind of timeline belong to one
 * job; the other settings apply to all jobs.
 */
export class JobTabStore {
  constructor(private readonly _db: IStateDB | null) {
    this._loaded = this._load();
  }

  /** Return the kept state of a job's tab, or the defaults. */
  async get(id: string): Promise<IJobTabState> {
    await this._loaded;
    return { ...DEFAULTS, ...this._look, ...this._states.get(id) };
  }

  /** Keep the state of a job's tab. */
  put(id: string, state: IJobTabState): void {
    const { pane, filter, rawEvents, ...look } = state;
    this._look = look;
    this._states.delete(id);
    this._states.set(id, { pane, filter, rawEvents });
    for (const oldest of this._states.keys()) {
      if (this._states.size <= REMEMBERED) {
        break;
      }
      this._states.delete(oldest);
    }
    void this._db?.save(STATE_KEY, {
      look: this._look,
      states: [...this._states]
    } as unknown as JSONObject);
  }

  private async _load(): Promise<void> {
    const known = (await this._db?.fetch(STATE_KEY)) as
      | {
          look: Partial<IJobTabState>;
          states: [string, Partial<IJobTabState>][];
        }
      | undefined;
    this._look = known?.look ?? {};
    this._states = new Map(known?.states);
  }

  private readonly _loaded: Promise<void>;
  /**
   * Settings that apply to all jobs, so that a user who wraps long lines in one log finds them wrapped in the
   * next log.
   */
  private _look: Partial<IJobTabState> = {};
  private _states = new Map<string, Partial<IJobTabState>>();
}

/** A job's log with its connection and its searches. */
export class JobLog implements IDisposable {
  constructor(jobs: IJobsModel, id: string, filter: ILogFilter) {
    const path = ['jobs', id, 'logs'];
    this._socket = new JsonSocket(jobs.api.serverSettings, path);
    this._connected = jobs.connection.state === 'open';
    jobs.changed.connect(this._onJobs, this);
    this.log = new LogModel(new LogSession(this._socket), filter);
    this.search = new LogSearch(this.log);
    this.errors = new LogSearch(this.log);
  }

  readonly log: LogModel;
  /** The user's search. */
  readonly search: LogSearch;
  /** Search for lines that look like errors. */
  readonly errors: LogSearch;

  get isDisposed(): boolean {
    return this.log.isDisposed;
  }

  dispose(): void {
    this.search.dispose();
    this.errors.dispose();
    this.log.dispose();
    Signal.clearData(this);
  }

  /**
   * Reconnect the log as soon as the jobs' connection is back, without waiting for the log's next attempt to
   * reconnect.
   */
  private _onJobs(jobs: IJobsModel): void {
    const connected = jobs.connection.state === 'open';
    if (connected && !this._connected) {
      this._socket.reconnect();
    }
    this._connected = connected;
  }

  private readonly _socket: JsonSocket<LogRequest, LogMessage>;
  private _connected: boolean;
}

/** Part of a log to show. */
export interface ILogTarget {
  stream?: string;
  offset?: number;
  /** Seconds since the epoch. */
  time?: number;
  /** Filter and search, as in an address. */
  view?: string;
}

/** State of one job's tab: the job, the current pane, and the log after the user opened it. */
export class JobTabModel implements IDisposable {
  constructor(
    readonly jobs: IJobsModel,
    readonly id: string,
    private readonly _store: JobTabStore
  ) {
    this.watch = jobs.watch(id);
    this.ready = this._restore();
  }

  /** Keeps the job up to date. */
  readonly watch: IJobWatch;
  /** Resolves when the kept state is restored. */
  readonly ready: Promise<void>;

  /** The state that is kept. */
  get state(): IJobTabState {
    return this._state;
  }

  /** True if the tab is visible. */
  get isVisible(): boolean {
    return this._visible;
  }

  /** True if the tab was visible before and isn't visible now. Such a tab isn't rendered. */
  get isHidden(): boolean {
    return this._wasVisible && !this._visible;
  }

  /** The log; null until the user opens the pane of logs. */
  get resourcesAt(): { time: number } | null {
    return this._resourcesAt;
  }

  get log(): JobLog | null {
    return this._log;
  }

  /** Emitted when the state, the visibility or the log changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this.watch.isDisposed;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.watch.dispose();
      this._log?.dispose();
      Signal.clearData(this);
    }
  }

  /** Change the state and keep it. */
  set(changes: Partial<IJobTabState>): void {
    this._state = { ...this._state, ...changes };
    this._store.put(this.id, this._state);
    this._update();
  }

  /**
   * Show a pane.
   *
   * @param pane - The pane.
   * @param place - For the pane of logs: a line to mark, or a time to go to, in seconds since the epoch, or
   * what the parameter `log` of an address describes.
   */
  async show(pane: JobPane, place?: ILogTarget): Promise<void> {
    await this.ready;
    if (this.isDisposed) {
      return;
    }
    this.set({ pane });
    if (place?.time !== undefined && pane === 'resources') {
      this._resourcesAt = { time: place.time };
      this._changed.emit();
    }
    if (place && pane === 'logs' && this._log) {
      const { log, search } = this._log;
      if (place.view !== undefined) {
        await log.ready;
        showAddress(place.view, log, search);
      }
      if (place.time !== undefined) {
        log.go({ at: 'time', time: place.time });
      } else if (place.stream !== undefined) {
        log.mark(place.stream, place.offset ?? 0);
      }
    }
  }

  /** Tell the model if the tab is visible. The server sends no new lines to the log of a hidden tab. */
  setVisible(visible: boolean): void {
    this._visible = visible;
    this._wasVisible ||= visible;
    this._update();
  }

  private async _restore(): Promise<void> {
    this._state = await this._store.get(this.id);
    if (!this.isDisposed) {
      this._update();
    }
  }

  /** Open the log when it is shown for the first time, and notify listeners. */
  private _update(): void {
    const looking = this._visible && this._state.pane === 'logs';
    if (looking && !this._log) {
      const log = new JobLog(this.jobs, this.id, this._state.filter);
      this._log = log;
      log.log.changed.connect(() => {
        if (log.log.filter !== this._state.filter) {
          this.set({ filter: log.log.filter });
        }
      });
    }
    this._log?.log.setActive(looking);
    this._changed.emit();
  }

  private _state = DEFAULTS;
  private _log: JobLog | null = null;
  private _resourcesAt: { time: number } | null = null;
  private _visible = false;
  private _wasVisible = false;
  private readonly _changed = new Signal<this, void>(this);
}
