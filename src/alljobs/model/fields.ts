/** Fields of jobs that filter expressions name, and the search for words. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobState } from '../../api/aliases';
import { JobSummary } from '../../api/types';
import { serverNow } from '../../common/clock';
import { Fields, FieldValue, IField } from '../../common/filter/fields';
import { stateOf, stateWord } from '../../jobs/phase';
import { metricOf, ownerOf } from './columns';
import { durationOf, gpuHours, gpusOf, waitedOf } from './facts';

const FIELDS: Record<string, (job: JobSummary) => FieldValue> = {
  name: job => [job.name, job.display_name ?? ''].filter(Boolean),
  state: stateOf,
  reason: job => job.reason?.sentence,
  owner: job => ownerOf(job) ?? undefined,
  engine: job => job.engine,
  namespace: job => job.namespace || undefined,
  node: job => job.nodes,
  queue: job => job.queue ?? undefined,
  sweep: job => job.sweep?.name,
  gpus: job => gpusOf(job) ?? 0,
  gpu_hours: job => gpuHours(job, serverNow()) ?? undefined,
  seconds: job => durationOf(job, serverNow()) ?? undefined,
  waited: job => waitedOf(job, serverNow()) ?? undefined,
  restarts: job => job.restarts,
  replicas: job => job.replicas,
  mine: job => job.mine
};

/**
 * Return the fields of jobs: facts of each job, then metrics, then the values of sweeps.
 *
 * @param metrics - Names of the metrics that jobs report.
 * @param values - Names of the values in which jobs of sweeps differ.
 */
export function fieldsOf(
  metrics: readonly string[],
  values: readonly string[]
): Fields<JobSummary> {
  const field = (
    name: string,
    group: string,
    read: (job: JobSummary) => FieldValue
  ): IField<JobSummary> => ({ name, group, rows: 0, read });
  return new Fields([
    ...Object.entries(FIELDS).map(([name, read]) => field(name, 'job', read)),
    ...metrics.map(name =>
      field(name, 'metrics', job => metricOf(job, name) ?? undefined)
    ),
    ...values.map(name =>
      field(name, 'values', job => {
        const own = job.sweep?.values ?? {};
        return Object.hasOwn(own, name) ? own[name] : undefined;
      })
    )
  ]);
}

/** Return the names of the values in which jobs of sweeps differ. */
export function sweepValues(jobs: readonly JobSummary[]): string[] {
  const names = new Set<string>();
  for (const { sweep } of jobs) {
    Object.keys(sweep?.values ?? {}).forEach(name => names.add(name));
  }
  return [...names].sort();
}

/** Return true if a filter is an expression; otherwise it is a list of words. */
export function isExpression(filter: string): boolean {
  return /[<>=~]|\bin\s*[([]/.test(filter);
}

/** Searches words in the texts of jobs. The text of a job is kept until the job changes. */
export class WordSearch {
  /**
   * @param _location - Returns the location of a job in words.
   */
  constructor(
    private readonly _location: (job: JobSummary) => string,
    private readonly _trans: TranslationBundle
  ) {}

  /** Return a function that tells if a job has all words of a filter. */
  matches(filter: string): (job: JobSummary) => boolean {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return job => {
      const text = this._textOf(job);
      return words.every(word => text.includes(word));
    };
  }

  private _textOf(job: JobSummary): string {
    let text = this._texts.get(job);
    if (text === undefined) {
      // `join` writes null as an empty text; double spaces do no harm, since single words are searched.
      text = [
        job.name,
        job.display_name,
        this._wordOf(stateOf(job)),
        job.reason?.sentence,
        ownerOf(job),
        this._location(job),
        job.queue,
        job.nodes.join(' '),
        job.sweep?.name,
        job.sweep && Object.values(job.sweep.values).join(' ')
      ]
        .join(' ')
        .toLowerCase();
      this._texts.set(job, text);
    }
    return text;
  }

  /** Return a state as one word. A translation takes longer than the rest of a job's text. */
  private _wordOf(state: JobState): string {
    let word = this._states.get(state);
    if (word === undefined) {
      word = stateWord(state, this._trans);
      this._states.set(state, word);
    }
    return word;
  }

  private readonly _states = new Map<JobState, string>();
  private readonly _texts = new WeakMap<JobSummary, string>();
}
