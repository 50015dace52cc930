/** Model of the comparison of a sweep's jobs: their states, values and metrics. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { JobSummary, MetricSummary, SweepResults } from '../../api/types';
import { isActive } from '../../jobs/phase';
import { IJobsModel } from '../../tokens';

/** Direction in which a metric improves. */
export type Goal = 'minimize' | 'maximize';

/** A row of the comparison. */
export interface IResultRow {
  /** Id of the job. */
  name: string;
  job: JobSummary;
  /** The chosen metric; null if the job has not reported it. */
  metric: MetricSummary | null;
}

/** Least time between two requests, in ms. */
const INTERVAL = 10_000;

/** Names of metrics that are better when they are greater. */
const GREATER =
  /(^|[_ ./-])(acc|accuracy|f1|auc|bleu|rouge|precision|recall|iou|map|score|reward|top\W?\d)(?![a-z])/i;

/** Keeps the results of a sweep current while its jobs run and a view shows them. */
export class ResultsModel implements IDisposable {
  /**
   * @param id - Id of the sweep.
   */
  constructor(
    private readonly _jobs: IJobsModel,
    readonly id: string
  ) {
    _jobs.changed.connect(this._onJobs, this);
    void this.refresh();
  }

  /** Emitted when jobs, metrics or choices change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Jobs of the sweep, in the order of their numbers. */
  get jobs(): readonly JobSummary[] {
    return this._jobs.jobs
      .filter(({ sweep }) => sweep?.id === this.id)
      .sort((a, b) => order(a) - order(b) || a.created_at - b.created_at);
  }

  /** Error of the last request; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** True until the first answer. */
  get isLoading(): boolean {
    return this._results === null && this._failure === null;
  }

  /** Fields of the sweep, in the order of the form. */
  get fields(): readonly string[] {
    return [
      ...new Set(this.jobs.flatMap(job => Object.keys(job.sweep?.values ?? {})))
    ];
  }

  /** Names of the metrics that a job has reported. */
  get metrics(): readonly string[] {
    const found = Object.values(this._results?.metrics ?? {});
    return [...new Set(found.flatMap(metrics => Object.keys(metrics)))].sort();
  }

  /** The chosen metric: that of the sweep's rule by default; null if there are none. */
  get metric(): string | null {
    const { metrics } = this;
    const rule = this._rule?.metric;
    return (
      metrics.find(name => name === this._metric) ??
      metrics.find(name => rule && namesMetric(rule, name)) ??
      metrics.find(name => /(val|eval|test)\w*[_/ .-]/i.test(name)) ??
      metrics.find(name => /acc|loss/i.test(name)) ??
      metrics[0] ??
      null
    );
  }

  /** Direction in which the chosen metric improves. */
  get goal(): Goal {
    const { metric } = this;
    const rule = this._rule;
    if (this._goal !== null) {
      return this._goal;
    }
    if (rule && metric && namesMetric(rule.metric, metric)) {
      return rule.goal;
    }
    return metric !== null && GREATER.test(metric) ? 'maximize' : 'minimize';
  }

  /** Rows of the table, unsorted. */
  get rows(): readonly IResultRow[] {
    const { metric } = this;
    return this.jobs.map(job => ({
      name: job.id,
      job,
      metric:
        (metric !== null && this._results?.metrics[job.id]?.[metric]) || null
    }));
  }

  /** Log directories of all jobs. */
  get logDirs(): readonly string[] {
    return [...new Set(this.jobs.flatMap(job => job.log_dirs))];
  }

  /** Read the metrics regularly only while the view is visible. */
  setVisible(isVisible: boolean): void {
    this._isVisible = isVisible;
    if (!isVisible) {
      window.clearTimeout(this._timer);
      this._timer = 0;
    }
    this._refreshLater();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Return the best value of a metric. */
  best({ least, greatest }: MetricSummary): number {
    return this.goal === 'minimize' ? least : greatest;
  }

  /** Choose a metric; its goal is guessed from its name. */
  chooseMetric(name: string): void {
    this._metric = name;
    this._goal = null;
    this._changed.emit();
  }

  /** Choose the direction in which the metric improves. */
  chooseGoal(goal: Goal): void {
    this._goal = goal;
    this._changed.emit();
  }

  /** Read the metrics now. */
  async refresh(): Promise<void> {
    this._readAt = Date.now();
    this._wasActive = this.jobs.some(isActive);
    try {
      this._results = await this._jobs.api.getSweepResults(this.id);
      this._failure = null;
    } catch (error) {
      this._failure = expectApiError(error);
    }
    if (!this._isDisposed) {
      this._changed.emit();
      this._refreshLater();
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      window.clearTimeout(this._timer);
      Signal.clearData(this);
    }
  }

  private get _rule() {
    return this.jobs[0]?.sweep?.rule ?? null;
  }

  private _onJobs(): void {
    this._changed.emit();
    this._refreshLater();
  }

  /**
   * Read the metrics again soon if a job runs, or ran when they were read, or if they could not be read: metrics in
   * files change without a change of their job. Metrics that nobody sees, or of a sweep that is gone, are not read.
   */
  private _refreshLater(): void {
    const { _failure: failure } = this;
    const isNeeded =
      this._isVisible &&
      failure?.status !== 404 &&
      (this._wasActive || failure !== null || this.jobs.some(isActive));
    if (!this._timer && isNeeded && !this._isDisposed) {
      const wait = Math.max(0, this._readAt + INTERVAL - Date.now());
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        void this.refresh();
      }, wait);
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private _results: SweepResults | null = null;
  private _failure: ApiError | null = null;
  private _metric: string | null = null;
  private _goal: Goal | null = null;
  private _readAt = 0;
  private _wasActive = true;
  private _isVisible = false;
  private _timer = 0;
  private _isDisposed = false;
}

/** Return true if the metric of a rule is this one, whatever its folders and case. */
function namesMetric(rule: string, name: string): boolean {
  return `/${name}`.toLowerCase().endsWith(`/${rule.toLowerCase()}`);
}

function order({ sweep }: JobSummary): number {
  return sweep === null ? 0 : sweep.round * 100_000 + sweep.number;
}
