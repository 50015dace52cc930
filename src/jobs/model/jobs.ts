/** Model of all jobs, TensorBoards and engines, which the server's pushes keep up to date. */

import { DisposableDelegate, IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { Action } from '../../api/aliases';
import { ApiClient } from '../../api/client';
import { ApiError, expectApiError } from '../../api/errors';
import { JsonSocket } from '../../api/stream';
import {
  Capacity,
  EngineInfo,
  Job,
  JobSummary,
  Notice,
  StreamMessage,
  Subscribe,
  TensorBoard
} from '../../api/types';
import { Connection, IJobsModel, IJobWatch } from '../../tokens';
import { serverNow, setServerTime } from '../../common/clock';
import { DeletedJobs } from './deletedJobs';
import { JobWatch, IWatched } from './jobWatch';
import { Notices } from '../notices';
import { PendingActions } from './pendingActions';
import { restAfter } from '../../common/pacing';
import { isActive } from '../phase';

/** After an answered request, the action stays pending for at most this time in ms, unless a push shows it before. */
const ANSWER_GRACE = 1000;
/** The maximum pause between two notifications of listeners, in ms. */
const LONGEST_REST = 250;

/** All jobs, TensorBoards and engines. The model subscribes to the server's stream and never polls. */
export class Jobs implements IJobsModel {
  /**
   * @param api - Client of the server.
   * @param begin - Connect when this promise resolves; at once by default.
   */
  constructor(
    readonly api: ApiClient,
    begin?: Promise<void>
  ) {
    this._socket = new JsonSocket(api.serverSettings, ['stream'], begin);
    this._socket.opened.connect(this._onOpened, this);
    this._socket.closed.connect(this._onClosed, this);
    this._socket.received.connect(this._onMessage, this);
    this.deleted = new DeletedJobs(api, () => this._changeSoon());
  }

  readonly deleted: DeletedJobs;

  readonly ready = new Promise<void>(resolve => {
    this._resolveReady = resolve;
  });

  get jobs(): readonly JobSummary[] {
    this._sorted ??= [...this._jobs.values()]
      .map(job => this._pending.applyTo(job))
      .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
    return this._sorted;
  }

  get tensorboards(): readonly TensorBoard[] {
    return this._tensorboards;
  }

  get engines(): readonly EngineInfo[] {
    return this._engines;
  }

  get capacity(): Capacity | null {
    // An incomplete count is less than the capacity.
    return this._capacity?.counting ? null : this._capacity;
  }

  get connection(): Connection {
    return this._connection;
  }

  get asOf(): number | null {
    return this._connection.state === 'open' ? serverNow() : this._asOf;
  }

  get changed(): ISignal<IJobsModel, void> {
    return this._changed;
  }

  get ended(): ISignal<IJobsModel, JobSummary> {
    return this._ended;
  }

  get noticed(): ISignal<IJobsModel, Notice> {
    return this._noticed;
  }

  get stalled(): ISignal<IJobsModel, JobSummary> {
    return this._stalled;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.clearTimeout(this._timer);
    cancelAnimationFrame(this._frame);
    this._socket.dispose();
    Signal.clearData(this);
  }

  get(id: string): JobSummary | undefined {
    const job = this._jobs.get(id) ?? this.deleted.get(id);
    return job && this._pending.applyTo(job);
  }

  watch(id: string): IJobWatch {
    let detail = this._details.get(id);
    if (!detail) {
      detail = { watches: new Set(), message: undefined };
      this._details.set(id, detail);
      this._subscribeSoon();
    }
    const watch = new JobWatch(id, detail, () => this._unwatch(watch));
    detail.watches.add(watch);
    return watch;
  }

  watchCapacity(): IDisposable {
    this._watchCapacity(1);
    return new DisposableDelegate(() => this._watchCapacity(-1));
  }

  reconnect(): void {
    this._socket.reconnect();
  }

  async act(
    id: string,
    action: Action,
    options: { remove?: boolean } = {}
  ): Promise<Job | null> {
    const pending = this._pending.begin(id, action);
    try {
      const answer =
        action === 'delete'
          ? await this.api.deleteJob(id, options.remove)
          : await this.api.act(id, action);
      window.setTimeout(() => this._pending.end(pending), ANSWER_GRACE);
      return answer;
    } catch (error) {
      this._pending.end(pending);
      throw error;
    }
  }

  private _onOpened(): void {
    this._connection = { state: 'open' };
    this._subscribe();
    this._changeSoon();
  }

  private async _onClosed(): Promise<void> {
    const { connection } = this;
    const nextTry = this._socket.nextTry && this._socket.nextTry / 1000;
    if (connection.state === 'open') {
      this._asOf = serverNow();
    }
    if (connection.state !== 'missing') {
      const since =
        'since' in connection ? connection.since : Date.now() / 1000;
      const refused = connection.state === 'lost' && connection.refused;
      this._connection = { state: 'lost', since, nextTry, refused };
    }
    this._changeSoon();
    // A browser does not report why a WebSocket failed, but it reports the status of a plain request.
    try {
      await this.api.engines();
    } catch (error) {
      this._onRefused(expectApiError(error));
    }
  }

  private _onRefused({ serverPartMissing, status }: ApiError): void {
    if (this._socket.isOpen) {
      return;
    }
    if (serverPartMissing) {
      this._connection = { state: 'missing' };
    } else if (this._connection.state === 'lost') {
      const refused = status === 401 || status === 403;
      this._connection = { ...this._connection, refused };
    }
    this._changeSoon();
  }

  private _onMessage(_: unknown, message: StreamMessage): void {
    switch (message.type) {
      case 'snapshot': {
        setServerTime(message.time);
        this._unseen = new Set(this._jobs.keys());
        this._take(message);
        this._notices.take(message);
        this._tensorboards = message.tensorboards;
        this._engines = message.engines;
        // A snapshot contains the capacity only for subscribers of it; keep the last one.
        this._capacity = message.capacity ?? this._capacity;
        this.deleted.refresh();
        this._resolveReady();
        this._changeSoon();
        break;
      }
      case 'delta': {
        setServerTime(message.time);
        this._take(message);
        this._notices.take(message);
        message.removed_jobs.forEach(id => this._jobs.delete(id));
        if (message.removed_jobs.length) {
          this._pending.onRemoved(message.removed_jobs);
          this.deleted.refresh();
        }
        this._tensorboards = merge(
          this._tensorboards,
          message.tensorboards,
          message.removed_tensorboards
        );
        this._engines = message.engines ?? this._engines;
        this._capacity = message.capacity ?? this._capacity;
        this._changeSoon();
        break;
      }
      case 'job': {
        const detail = this._details.get(message.id);
        if (detail) {
          detail.message = message;
          this._changeSoon(message.id);
        }
        break;
      }
      case 'error':
        console.warn('t9kjob stream:', message.message);
    }
  }

  /**
   * Add the jobs of a snapshot or of a delta.
   *
   * A snapshot may consist of several messages. Jobs that are not part of a complete snapshot were deleted
   * while the connection was lost.
   */
  private _take({ jobs, complete }: { jobs: JobSummary[]; complete: boolean }) {
    jobs.forEach(job => this._put(job));
    if (complete) {
      this._unseen.forEach(id => this._jobs.delete(id));
      this._unseen.clear();
    }
  }

  /** Add or replace a job; emit `ended` if it has changed to a finished phase, `stalled` if its progress has stopped. */
  private _put(job: JobSummary): void {
    const before = this._jobs.get(job.id);
    this._jobs.set(job.id, job);
    this._unseen.delete(job.id);
    this._pending.onPushed(job);
    if (before && isActive(before) && !isActive(job) && job.ended_at !== null) {
      this._ended.emit(job);
    }
    if (before && !before.stalled && job.stalled) {
      this._stalled.emit(job);
    }
  }

  private _unwatch(watch: JobWatch): void {
    const detail = this._details.get(watch.id);
    detail?.watches.delete(watch);
    if (detail?.watches.size === 0) {
      this._details.delete(watch.id);
      this._subscribeSoon();
    }
  }

  private _watchCapacity(by: 1 | -1): void {
    const before = this._capacityWatches > 0;
    this._capacityWatches += by;
    if (this._capacityWatches > 0 !== before) {
      this._subscribeSoon();
    }
  }

  /** Subscribe once for all changes of the current task, such as several tabs that open together. */
  private _subscribeSoon(): void {
    if (!this._subscribing) {
      this._subscribing = true;
      queueMicrotask(() => {
        this._subscribing = false;
        this._subscribe();
      });
    }
  }

  private _subscribe(): void {
    this._socket.send({
      type: 'subscribe',
      jobs: true,
      tensorboards: true,
      capacity: this._capacityWatches > 0,
      details: [...this._details.keys()]
    });
  }

  /**
   * Notify the listeners at once, but pause between two notifications.
   *
   * @param id - Job whose watches are notified as well.
   */
  private _changeSoon(id?: string): void {
    this._sorted = null;
    if (id !== undefined) {
      this._changedDetails.add(id);
    }
    this._isChanged = true;
    if (!this._rests) {
      this._rests = true;
      queueMicrotask(() => this._notify());
    }
  }

  /** Notify the listeners, and start the pause. */
  private _notify(): void {
    if (this._isDisposed) {
      return;
    }
    this._isChanged = false;
    const ids = [...this._changedDetails];
    this._changedDetails.clear();
    const begun = performance.now();
    this._changed.emit();
    for (const changed of ids) {
      this._details.get(changed)?.watches.forEach(watch => watch.emit());
    }
    const rest = restAfter(performance.now() - begun, LONGEST_REST);
    this._timer = window.setTimeout(() => this._afterRest(), rest);
  }

  private _afterRest(): void {
    if (document.visibilityState === 'hidden') {
      // Browsers run no animation frames in a hidden page, so the listeners are notified when the
      // page is visible again.
      this._frame = requestAnimationFrame(() => this._afterRest());
    } else if (this._isChanged) {
      this._notify();
    } else {
      this._rests = false;
    }
  }

  private readonly _socket: JsonSocket<Subscribe, StreamMessage>;
  private _connection: Connection = {
    state: 'connecting',
    since: Date.now() / 1000
  };
  private _asOf: number | null = null;
  private readonly _jobs = new Map<string, JobSummary>();
  private _unseen = new Set<string>();
  private _sorted: readonly JobSummary[] | null = null;
  private _tensorboards: readonly TensorBoard[] = [];
  private _engines: readonly EngineInfo[] = [];
  private _capacity: Capacity | null = null;
  private _capacityWatches = 0;
  private readonly _pending = new PendingActions(id => this._changeSoon(id));
  private _details = new Map<string, IWatched>();
  private _changedDetails = new Set<string>();
  private _subscribing = false;
  private _isChanged = false;
  private _rests = false;
  private _timer = 0;
  private _frame = 0;
  private _isDisposed = false;
  private _resolveReady!: () => void;
  private _changed = new Signal<this, void>(this);
  private _ended = new Signal<this, JobSummary>(this);
  private readonly _noticed = new Signal<this, Notice>(this);
  private readonly _notices = new Notices(notice => this._noticed.emit(notice));
  private _stalled = new Signal<this, JobSummary>(this);
}

/** Return the TensorBoards after a change, in the order of their arrival. */
function merge(
  known: readonly TensorBoard[],
  changed: TensorBoard[],
  removed: string[]
): TensorBoard[] {
  const all = new Map(known.map(item => [item.id, item]));
  changed.forEach(item => all.set(item.id, item));
  removed.forEach(id => all.delete(id));
  return [...all.values()];
}
