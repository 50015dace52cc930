/** Jobs of the launch form's sweep, as the server expands it. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { ExpandSweep, SweepJob, SweepPreview } from '../../api/types';

/** Delay between the last edit and the request, in ms. */
const DELAY = 200;

/**
 * Keeps the jobs of a sweep current, and knows which of them the user looks at.
 *
 * The last jobs stay visible until the next answer.
 */
export class SweepJobs implements IDisposable {
  /**
   * @param _ask - Requests the jobs of a sweep from the server.
   * @param _request - Returns the current sweep; null if the form has none.
   */
  constructor(
    private readonly _ask: (
      request: ExpandSweep,
      signal: AbortSignal
    ) => Promise<SweepPreview>,
    private readonly _request: () => ExpandSweep | null
  ) {}

  /** Emitted when the jobs, the failure or the selection changes. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The last answer; it may be older than the form while a request runs. Null if the form has no sweep. */
  get shown(): SweepPreview | null {
    return this._shown;
  }

  /** Error of the last request; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** True if the answer belongs to the current content of the form. */
  get isCurrent(): boolean {
    return !this._isBehind && this._failure === null;
  }

  /** The selected job, whose command the form shows: the first one by default; null without jobs. */
  get selected(): SweepJob | null {
    const jobs = this._shown?.jobs ?? [];
    return (
      jobs.find(({ number }) => number === this._selected) ??
      jobs.find(job => !job.left_out) ??
      null
    );
  }

  /** The jobs that will be created. */
  get chosen(): readonly SweepJob[] {
    return (this._shown?.jobs ?? []).filter(job => !job.left_out);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Return the number of different values of a field among the jobs. */
  valueCount(field: string): number {
    const jobs = this._shown?.jobs ?? [];
    return new Set(jobs.flatMap(({ values }) => values[field] ?? [])).size;
  }

  /** Select a job by its number. */
  select(number: number): void {
    if (this._selected !== number) {
      this._selected = number;
      this._changed.emit();
    }
  }

  /** Request the jobs after a short delay; further calls within the delay restart it. */
  schedule(): void {
    this._cancel();
    if (this._shown === null && this._request() === null) {
      return;
    }
    this._isBehind = true;
    this._timer = window.setTimeout(() => void this.refresh(), DELAY);
  }

  /** Request the jobs now and cancel older requests. */
  async refresh(): Promise<void> {
    this._cancel();
    const request = this._request();
    const running = new AbortController();
    this._running = running;
    if (request === null) {
      this._take(null, null);
      return;
    }
    try {
      const answer = await this._ask(request, running.signal);
      if (!running.signal.aborted) {
        this._take(answer, null);
      }
    } catch (error) {
      if (!running.signal.aborted) {
        this._take(this._shown, expectApiError(error));
      }
    }
  }

  /** Remove the jobs, because the form has a new content. */
  reset(): void {
    this._cancel();
    this._shown = null;
    this._failure = null;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._cancel();
      Signal.clearData(this);
    }
  }

  private _take(shown: SweepPreview | null, failure: ApiError | null): void {
    this._shown = shown;
    this._failure = failure;
    this._isBehind = false;
    this._changed.emit();
  }

  /** Cancel the delay and the running request. */
  private _cancel(): void {
    window.clearTimeout(this._timer);
    this._running?.abort();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _shown: SweepPreview | null = null;
  private _failure: ApiError | null = null;
  private _selected = 1;
  private _isBehind = false;
  private _running: AbortController | null = null;
  private _timer = 0;
  private _isDisposed = false;
}
