/** Columns of the table of jobs. */
import { JobSummary } from '../../api/types';
import { stateOf } from '../../jobs/phase';
import { durationOf, gpuHours, gpusOf, waitedOf } from './facts';

/** A value by which rows are sorted; null without a value. */
export type CellValue = number | string | null;

/** Kinds of columns; a metric's column has the metric's name. */
export type ColumnKind =
  | 'name'
  | 'state'
  | 'progress'
  | 'owner'
  | 'where'
  | 'node'
  | 'queue'
  | 'gpus'
  | 'allocated'
  | 'metric'
  | 'created'
  | 'started'
  | 'ended'
  | 'waited'
  | 'duration'
  | 'hours'
  | 'restarts';

/** A column that the table can show. */
export interface IJobColumn {
  /** The kind, or `m:` and the name of a metric. */
  key: string;
  kind: ColumnKind;
  /** Name of the metric; empty for other columns. */
  name: string;
  isNumber: boolean;
  /**
   * Return the value by which rows are sorted.
   *
   * @param now - Seconds since the epoch.
   */
  value(job: JobSummary, now: number): CellValue;
}

const VALUES: Record<
  Exclude<ColumnKind, 'metric'>,
  (job: JobSummary, now: number) => CellValue
> = {
  name: job => job.display_name ?? job.name,
  state: stateOf,
  progress: job => job.progress?.fraction ?? null,
  owner: ownerOf,
  where: job => [job.engine, job.namespace].filter(Boolean).join(' · '),
  node: job => job.nodes[0] ?? null,
  queue: job => job.queue,
  gpus: gpusOf,
  allocated: job => job.devices_held,
  created: job => job.created_at,
  started: job => job.started_at,
  ended: job => job.ended_at,
  waited: waitedOf,
  duration: durationOf,
  hours: gpuHours,
  restarts: job => job.restarts
};

const NUMBERS: ReadonlySet<string> = new Set([
  'progress',
  'gpus',
  'allocated',
  'created',
  'started',
  'ended',
  'waited',
  'duration',
  'hours',
  'restarts'
]);

/** Columns in their order before and after the metrics. */
const FIRST: readonly Exclude<ColumnKind, 'metric'>[] = [
  'state',
  'progress',
  'owner',
  'where',
  'node',
  'queue',
  'gpus',
  'allocated'
];
const LAST: readonly Exclude<ColumnKind, 'metric'>[] = [
  'created',
  'started',
  'ended',
  'waited',
  'duration',
  'hours',
  'restarts'
];

/** Columns that are shown at first, beside the first metric. */
const DEFAULT: readonly string[] = [
  'state',
  'progress',
  'owner',
  'where',
  'gpus',
  'started',
  'waited',
  'duration',
  'hours'
];

/** Metrics that the table offers as columns: those that most jobs report. */
const MOST_METRICS = 50;

/** Return the user to whom a job belongs; null if the engine does not name owners. */
export function ownerOf(job: JobSummary): string | null {
  return job.owner;
}

/** The column of names, which is always shown. */
export const NAME_COLUMN = column('name');

/**
 * Return all columns that the table can show, in the order in which it shows them.
 *
 * @param metrics - Names of the metrics that jobs report, the most frequent first.
 */
export function allColumns(metrics: readonly string[]): IJobColumn[] {
  return [
    ...FIRST.map(column),
    ...metrics.map(metricColumn),
    ...LAST.map(column)
  ];
}

/** Return the keys of the columns that are shown at first. */
export function defaultKeys(all: readonly IJobColumn[]): string[] {
  const metric = all.find(({ kind }) => kind === 'metric');
  return [...DEFAULT, ...(metric ? [metric.key] : [])];
}

/** Return the names of the metrics that jobs report, the most frequent first. */
export function metricsOf(jobs: readonly JobSummary[]): string[] {
  const counts = new Map<string, number>();
  for (const { progress } of jobs) {
    for (const name of Object.keys(progress?.metrics ?? {})) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, MOST_METRICS)
    .map(([name]) => name);
}

/** Return the last value of a metric that a job reported; null if there is none. */
export function metricOf(job: JobSummary, name: string): number | null {
  const metrics = job.progress?.metrics ?? {};
  const value = Object.hasOwn(metrics, name) ? metrics[name] : null;
  return typeof value === 'number' ? value : null;
}

/** Return the direction in which a metric improves, as its name tells; null if the name does not tell. */
export function goalOf(metric: string): 'min' | 'max' | null {
  if (
    /loss|error|\b(mae|mse|rmse|ppl|wer|cer|fid)\b|perplexity/i.test(metric)
  ) {
    return 'min';
  }
  return /acc|auc|\bf1\b|precision|recall|bleu|rouge|map\b|iou|reward|score|top-?\d/i.test(
    metric
  )
    ? 'max'
    : null;
}

function column(kind: Exclude<ColumnKind, 'metric'>): IJobColumn {
  return {
    key: kind,
    kind,
    name: '',
    isNumber: NUMBERS.has(kind),
    value: VALUES[kind]
  };
}

function metricColumn(name: string): IJobColumn {
  return {
    key: `m:${name}`,
    kind: 'metric',
    name,
    isNumber: true,
    value: job => metricOf(job, name)
  };
}
