/** Model of a comparison of jobs: the jobs, and a comparison of their runs. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { Job, RunRow, RunTable } from '../../api/types';
import { IKeptLook } from '../../experiments/charts/kept';
import { ExperimentsClient } from '../../experiments/client';
import { CompareModel } from '../../experiments/compare/model';
import { IJobsModel } from '../../tokens';
import { ICompared } from './sections';

/** Least time between two readings of jobs that changed, in ms. */
const INTERVAL = 3000;

interface IJobCompareOptions {
  jobs: IJobsModel;
  client: ExperimentsClient;
  ids: readonly string[];
  look: IKeptLook;
  /** Keeps the settings of the charts. */
  saveLook(look: IKeptLook): void;
}

/** Reads the jobs of a comparison and their runs, and follows them while the page is visible. */
export class JobCompareModel implements IDisposable {
  constructor(private readonly _options: IJobCompareOptions) {
    _options.jobs.changed.connect(this._onJobs, this);
    void this.load();
  }

  get ids(): readonly string[] {
    return this._options.ids;
  }

  /** Emitted when jobs, runs or an error changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The jobs that were found with their runs, in the order of the address; null before they are read. */
  get compared(): readonly ICompared[] | null {
    const runs = new Map(
      (this._runs?.runs ?? []).flatMap(run =>
        this._jobOfRun.has(run.id)
          ? [[this._jobOfRun.get(run.id) ?? '', run]]
          : []
      )
    );
    return (
      this._jobs?.map(job => ({ job, run: runs.get(job.id) ?? null })) ?? null
    );
  }

  /** The comparison of the runs; null if the jobs have no runs, and before the runs are known. */
  get runs(): CompareModel | null {
    return this._runs;
  }

  /** True after the runs were looked for. */
  get areRunsKnown(): boolean {
    return this._areRunsKnown;
  }

  get failure(): ApiError | null {
    return this._failure;
  }

  /** Why the runs could not be listed; null if they could. */
  get runsFailure(): ApiError | null {
    return this._runsFailure;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      window.clearTimeout(this._timer);
      this._options.jobs.changed.disconnect(this._onJobs, this);
      this._runs?.dispose();
      Signal.clearData(this);
    }
  }

  /** Read the jobs, then the runs of jobs of which none is known. */
  async load(): Promise<void> {
    await this._readJobs();
    const isComplete = this._jobOfRun.size === this._jobs?.length;
    if (this._jobs && !isComplete && !this._isDisposed) {
      await this._findRuns();
    }
  }

  /** Follow the runs while the page is visible. */
  setVisible(isVisible: boolean): void {
    this._isVisible = isVisible;
    this._runs?.setVisible(isVisible);
  }

  private async _readJobs(): Promise<void> {
    const { api } = this._options.jobs;
    try {
      const found = await Promise.all(
        this.ids.map(id =>
          api.job(id).catch(error => {
            if (expectApiError(error).status === 404) {
              return null;
            }
            throw error;
          })
        )
      );
      this._jobs = found.filter(job => job !== null);
      this._failure = null;
    } catch (error) {
      this._failure = expectApiError(error);
    }
    this._emit();
  }

  /** Find the run of each job: of several, the one with the most metrics. */
  private async _findRuns(): Promise<void> {
    const { client, look, saveLook } = this._options;
    try {
      const best = new Map<string, RunRow>();
      let table: RunTable | null = null;
      do {
        // While folders are searched, the server holds the request until it has found more runs.
        table = await client.runs({
          folder: '',
          revision: table?.revision ?? -1
        });
        if (this._isDisposed) {
          return;
        }
        for (const run of table.runs) {
          const id = run.job?.id;
          const before = id === undefined ? undefined : best.get(id);
          if (
            id !== undefined &&
            this.ids.includes(id) &&
            (!before || weightOf(run) >= weightOf(before))
          ) {
            best.set(id, run);
          }
        }
        // The server joins a job's folders of event files to one run, which replaces theirs.
      } while (
        table.scanning &&
        (best.size < this.ids.length ||
          [...best.values()].some(({ origin }) => origin === 'events'))
      );
      this._jobOfRun = new Map([...best].map(([job, { id }]) => [id, job]));
      const ids = this.ids.flatMap(id => best.get(id)?.id ?? []);
      const before = this._runs;
      if (ids.length > 0 && ids.join() !== before?.ids.join()) {
        this._runs = new CompareModel({
          ...{ client, ids, saveLook },
          look: before?.look ?? look
        });
        this._runs.setVisible(this._isVisible);
        this._runs.changed.connect(this._emit, this);
        before?.dispose();
      }
      this._runsFailure = null;
    } catch (error) {
      this._runsFailure = expectApiError(error);
    }
    this._areRunsKnown = true;
    this._emit();
  }

  /** Read the jobs again if one of them has changed. */
  private _onJobs(): void {
    const { jobs } = this._options;
    const isOld = this._jobs?.some(job => {
      const now = jobs.get(job.id);
      return now && (now.phase !== job.phase || now.restarts !== job.restarts);
    });
    if (isOld && !this._timer) {
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        void this.load();
      }, INTERVAL);
    }
  }

  private _emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private _jobs: readonly Job[] | null = null;
  private _jobOfRun: ReadonlyMap<string, string> = new Map();
  private _runs: CompareModel | null = null;
  private _areRunsKnown = false;
  private _failure: ApiError | null = null;
  private _runsFailure: ApiError | null = null;
  private _isVisible = false;
  private _isDisposed = false;
  private _timer = 0;
}

/** Return how much is known of a run: values of metrics count most, then those of the recorder. */
function weightOf({ metrics, origin }: RunRow): number {
  return 2 * Object.keys(metrics).length + Number(origin === 'recorder');
}
