/** Runs of a folder, kept current by requests that the server holds until a run changes. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { isEqual } from '../../common/memo';
import { ExperimentsClient } from '../client';
import { RunColumn, RunRow, RunTable, Unreadable } from '../../api/types';

/** Pauses after a failed request, in ms: the first, and the longest. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;

/** Shortest time between two requests, in ms. A busy folder changes more often than a user can read. */
const LEAST = 1000;

/** Folder, metrics and curves that the store asks for. */
export interface IRunsOf {
  folder: string;
  /** Metrics whose values are part of the answer; the server leaves out rare metrics that nobody names. */
  metrics: readonly string[];
  /** Metrics whose curves are part of the answer. */
  curves: readonly string[];
}

/** Keeps the runs of a folder current while `isActive` is set. */
export class RunStore implements IDisposable {
  constructor(
    private readonly _client: Pick<ExperimentsClient, 'runs'>,
    of: IRunsOf
  ) {
    this._of = of;
  }

  /** All known runs. The list is a new object after each change. */
  get runs(): readonly RunRow[] {
    this._list ??= [...this._runs.values()];
    return this._list;
  }

  /** Columns that the runs have. */
  get columns(): readonly RunColumn[] {
    return this._columns;
  }

  /** Folders that could not be read: the first of them, and their number. */
  get unreadable(): { first: readonly Unreadable[]; count: number } {
    return this._unreadable;
  }

  /** True until the first answer for this folder. */
  get isLoading(): boolean {
    return this._revision < 0 && this._failure === null;
  }

  /** Sentence about folders that the search did not reach; null if it reached all. */
  get leftOut(): string | null {
    return this._leftOut;
  }

  /** Sentence about the index of runs if the server can't use it; null if it can. */
  get indexProblem(): string | null {
    return this._indexProblem;
  }

  /** True while the server searches folders. */
  get isScanning(): boolean {
    return this._isScanning;
  }

  /** Error of the last request; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** Emitted when runs, columns or the error changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Choose the folder and the curves. The runs of another folder are forgotten. */
  choose(of: IRunsOf): void {
    const isOther = of.folder !== this._of.folder;
    if (isEqual(of, this._of)) {
      return;
    }
    this._of = of;
    this._revision = -1;
    this._failure = null;
    if (isOther) {
      this._runs.clear();
      this._columns = [];
      this._list = null;
      this._changed.emit();
    }
    this._restart();
  }

  /** Follow changes, or stop following them while the table is not visible. */
  set isActive(isActive: boolean) {
    if (isActive !== (this._requests !== null)) {
      this._isActive = isActive;
      this._restart();
    }
  }

  /** Send the next request now instead of after a pause. */
  retry(): void {
    this._restart();
  }

  /** Replace a run by the answer to a change. */
  replace(run: RunRow): void {
    const known = this._runs.get(run.id);
    if (known) {
      // The answer to a change has no curves.
      this._runs.set(run.id, { ...run, metrics: known.metrics });
      this._list = null;
      this._changed.emit();
    }
  }

  /** Forget runs that were deleted. */
  forget(ids: readonly string[]): void {
    ids.forEach(id => this._runs.delete(id));
    this._list = null;
    this._changed.emit();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._requests?.abort();
      Signal.clearData(this);
    }
  }

  private _restart(): void {
    this._requests?.abort();
    this._requests = null;
    if (this._isActive && !this._isDisposed) {
      const requests = new AbortController();
      this._requests = requests;
      void this._follow(requests.signal);
    }
  }

  private async _follow(signal: AbortSignal): Promise<void> {
    let pause = FIRST_PAUSE;
    while (!signal.aborted) {
      const begun = performance.now();
      const answer = await this._client
        .runs(
          {
            folder: this._of.folder,
            metrics: [...this._of.metrics],
            curves: [...this._of.curves],
            revision: this._revision
          },
          signal
        )
        .catch(expectApiError);
      if (signal.aborted) {
        return;
      }
      if (answer instanceof ApiError) {
        this._failure = answer;
        this._changed.emit();
        await passed(pause, signal);
        pause = Math.min(LONGEST_PAUSE, 2 * pause);
      } else {
        pause = FIRST_PAUSE;
        this._apply(answer);
        await passed(begun + LEAST - performance.now(), signal);
      }
    }
  }

  private _apply(answer: RunTable): void {
    const { runs, removed, columns, complete, revision } = answer;
    const isNews =
      this._failure !== null ||
      revision !== this._revision ||
      answer.scanning !== this._isScanning;
    this._failure = null;
    this._revision = revision;
    this._isScanning = answer.scanning;
    if (complete) {
      this._runs.clear();
    }
    runs.forEach(run => this._runs.set(run.id, run));
    removed.forEach(id => this._runs.delete(id));
    if (!isEqual(columns, this._columns)) {
      this._columns = columns;
    }
    if (isNews) {
      this._leftOut = answer.left_out;
      this._indexProblem = answer.index_problem;
      this._unreadable = {
        first: answer.unreadable,
        count: answer.unreadable_count
      };
      this._list = null;
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _runs = new Map<string, RunRow>();
  private _list: readonly RunRow[] | null = null;
  private _columns: readonly RunColumn[] = [];
  private _unreadable: { first: readonly Unreadable[]; count: number } = {
    first: [],
    count: 0
  };
  private _leftOut: string | null = null;
  private _indexProblem: string | null = null;
  private _of: IRunsOf;
  private _revision = -1;
  private _isScanning = false;
  private _failure: ApiError | null = null;
  private _requests: AbortController | null = null;
  private _isActive = false;
  private _isDisposed = false;
}

/** Resolve after a time in ms, or when the signal is aborted. */
function passed(time: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (time <= 0 || signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      window.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = window.setTimeout(end, time);
    signal.addEventListener('abort', end);
  });
}
