import { IStateDB } from '@jupyterlab/statedb';
import { JSONObject } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { JsonSocket } from '../../api/stream';
import { LogMessage, LogRequest } from '../../api/types';
import { IJobsModel, IJobWatch } from '../../tokens';
import { JobPane } from './jobPanes';
import { LogModel } from '../../logs/model/log';
import { LogSearch } from '../../logs/model/search';
import { LogSession } from '../../logs/model/session';
import { ILogFilter, SHOW_ALL } from '../../logs/model/streams';

/** Which of a job's manifests are shown. */
export type ManifestLook = 'both' | 'submitted' | 'current';

/** What is remembered of one job's tab. */
export interface IJobTabState {
  pane: JobPane;
  filter: ILogFilter;
  /** The timeline shows the raw events. */
  rawEvents: boolean;
  /** How a log is drawn. */
  times: boolean;
  wrap: boolean;
  /** How manifests are shown. */
  manifestLook: ManifestLook;
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

const STATE_KEY = 'jupyterlab_t9kjob:job-tabs';
/** Jobs whose tabs are remembered, the last used ones. */
const REMEMBERED = 50;

/** Remembers the state of job tabs over reloads. */
export class JobTabStore {
  constructor(private readonly _db: IStateDB | null) {
    this._loaded = this._load();
  }

  async get(id: string): Promise<IJobTabState> {
    await this._loaded;
    return { ...DEFAULTS, ...this._look, ...this._states.get(id) };
  }

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
  /** Of all tabs: who wraps long lines of one log wants that of the next. */
  private _look: Partial<IJobTabState> = {};
  private _states = new Map<string, Partial<IJobTabState>>();
}

/** A job's log and the searches in it. */
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
  readonly search: LogSearch;
  /** Lines that look like errors. */
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

  /** The server is back: the log is as well, without waiting for its own next try. */
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

/** State of one job's tab: the job, which part of it is in front, and its log once it was looked at. */
export class JobTabModel implements IDisposable {
  constructor(
    readonly jobs: IJobsModel,
    readonly id: string,
    private readonly _store: JobTabStore
  ) {
    this.watch = jobs.watch(id);
    this.ready = this._restore();
  }

  readonly watch: IJobWatch;
  /** Resolves when the remembered state is back. */
  readonly ready: Promise<void>;

  get state(): IJobTabState {
    return this._state;
  }

  /** Whether the tab is in view at all. */
  get isVisible(): boolean {
    return this._visible;
  }

  /** True if the tab was in view and another one is in front of it now: nothing of it is drawn. */
  get isHidden(): boolean {
    return this._wasVisible && !this._visible;
  }

  /** Null until the log is looked at. */
  get log(): JobLog | null {
    return this._log;
  }

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

  set(changes: Partial<IJobTabState>): void {
    this._state = { ...this._state, ...changes };
    this._store.put(this.id, this._state);
    this._update();
  }

  /** Show a part of the job; of the log, optionally a place in it. */
  async show(
    pane: JobPane,
    place?: { stream: string; offset: number }
  ): Promise<void> {
    await this.ready;
    if (this.isDisposed) {
      return;
    }
    this.set({ pane });
    if (place && pane === 'logs') {
      this._log?.log.mark(place.stream, place.offset);
    }
  }

  /** Whether the tab is in view at all: a log that is not is not sent. */
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
  private _visible = false;
  private _wasVisible = false;
  private readonly _changed = new Signal<this, void>(this);
}
