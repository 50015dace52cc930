/** Loads the curves of the charts that are in view. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import {
  Curve,
  Curves as Answer,
  CurvesLeftOut,
  CurvesRequest
} from '../../api/types';
import { XAxis } from '../types';
import { Range } from './readingLine';

/** Limits of one request. More runs are asked for in several requests. */
const MOST_RUNS = 100;
const MOST_METRICS = 50;
/** Requests for metrics that come into view within this time are one, in ms. */
const GATHER = 30;

/** Settings that all curves of a view share. */
export interface ICurvesView {
  runs: readonly string[];
  x: XAxis;
  /** Width of a chart in px. */
  width: number;
  range: Range | null;
}

/** Sends a request for curves. */
export type FetchCurves = (
  request: CurvesRequest,
  signal: AbortSignal
) => Promise<Answer>;

/** Curves of the metrics that are in view. While new curves are loaded, the last ones are kept. */
export class Curves implements IDisposable {
  constructor(
    private readonly _fetch: FetchCurves,
    private _view: ICurvesView
  ) {}

  /** Emitted when curves were loaded, or could not be loaded. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Error of the last request; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** Runs whose curves could not be read in the last request. */
  get leftOut(): readonly CurvesLeftOut[] {
    return this._leftOut;
  }

  get view(): ICurvesView {
    return this._view;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Return the curves of a metric, one for each run that has it; undefined before they are loaded. */
  get(metric: string): readonly Curve[] | undefined {
    return this._curves.get(metric);
  }

  /** Range of the x values of all loaded curves; null without values. While the charts are zoomed, it stays. */
  get extent(): Range | null {
    return this._extent;
  }

  /** Return the loaded version of a metric's curves, which changes with each answer. */
  version(metric: string): number {
    return this._versions.get(metric) ?? 0;
  }

  /** Load metrics that have come into view. Call the returned function when they go out of view. */
  show(metrics: readonly string[]): () => void {
    for (const metric of metrics) {
      this._shown.set(metric, (this._shown.get(metric) ?? 0) + 1);
    }
    this._plan();
    return () => {
      for (const metric of metrics) {
        const times = (this._shown.get(metric) ?? 0) - 1;
        if (times > 0) {
          this._shown.set(metric, times);
        } else {
          this._shown.delete(metric);
        }
      }
    };
  }

  /** Load other curves: other runs, another x axis, width or range. */
  setView(view: ICurvesView): void {
    if (JSON.stringify(view) === JSON.stringify(this._view)) {
      return;
    }
    if (view.x !== this._view.x) {
      this._curves.clear();
      this._extent = null;
    }
    this._view = view;
    this.refresh();
  }

  /** Load the curves again, because the runs have new values. */
  refresh(): void {
    this._fresh.clear();
    this._abort.abort();
    this._abort = new AbortController();
    this._plan();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      window.clearTimeout(this._timer);
      this._abort.abort();
      Signal.clearData(this);
    }
  }

  private _plan(): void {
    if (!this._timer && !this._isDisposed) {
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        void this._load();
      }, GATHER);
    }
  }

  private async _load(): Promise<void> {
    const wanted = [...this._shown.keys()].filter(
      metric => !this._fresh.has(metric)
    );
    const { runs, x, width, range } = this._view;
    const metrics = wanted.slice(0, MOST_METRICS);
    if (metrics.length === 0 || runs.length === 0 || width <= 0) {
      return;
    }
    metrics.forEach(metric => this._fresh.add(metric));
    const { signal } = this._abort;
    try {
      const request = {
        ...{ metrics, x },
        width: Math.min(4000, Math.max(1, Math.round(width))),
        ...(range && { first: range[0], last: range[1] })
      };
      const answers: Answer[] = [];
      for (let at = 0; at < runs.length; at += MOST_RUNS) {
        const some = runs.slice(at, at + MOST_RUNS);
        answers.push(await this._fetch({ ...request, runs: some }, signal));
      }
      if (signal.aborted) {
        return;
      }
      const curves = answers.flatMap(answer => answer.curves);
      for (const metric of metrics) {
        this._curves.set(
          metric,
          curves.filter(curve => curve.metric === metric)
        );
        this._versions.set(metric, this.version(metric) + 1);
      }
      if (range === null) {
        this._extent = extentOf(this._curves.values());
      }
      this._failure = null;
      this._leftOut = merged(answers.flatMap(({ left_out }) => left_out));
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      this._failure = expectApiError(error);
    }
    this._changed.emit();
    if (wanted.length > metrics.length) {
      this._plan();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _curves = new Map<string, Curve[]>();
  private readonly _versions = new Map<string, number>();
  /** Metrics in view, with the number of charts that show them. */
  private readonly _shown = new Map<string, number>();
  /** Metrics that were requested for the current view. */
  private readonly _fresh = new Set<string>();
  private _abort = new AbortController();
  private _failure: ApiError | null = null;
  private _leftOut: readonly CurvesLeftOut[] = [];
  private _extent: Range | null = null;
  private _timer = 0;
  private _isDisposed = false;
}

/** Return the range of the x values of curves; null without values. */
function extentOf(curves: Iterable<readonly Curve[]>): Range | null {
  let [first, last] = [Infinity, -Infinity];
  for (const { x } of [...curves].flat()) {
    for (const at of x) {
      first = Math.min(first, at);
      last = Math.max(last, at);
    }
  }
  return first <= last ? [first, last] : null;
}

/** Join the runs that are left out for the same reason. */
function merged(leftOut: readonly CurvesLeftOut[]): CurvesLeftOut[] {
  const runs = new Map<string, string[]>();
  for (const { problem, runs: more } of leftOut) {
    runs.set(problem, [...(runs.get(problem) ?? []), ...more]);
  }
  return [...runs].map(([problem, all]) => ({ problem, runs: all }));
}
