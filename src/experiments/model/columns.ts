/** Columns of the table of runs. */
import { RunColumn, RunRow } from '../../api/types';
import { Goal } from '../types';
import {
  goalOf,
  IMetricChoices,
  labelsOf,
  metricReader,
  modeOf
} from './fields';
import { MetricMode } from './metrics';

/** A value by which rows are sorted; null without a value. */
export type CellValue = number | string | boolean | null;

/** A column that the table can show. */
export interface ITableColumn {
  /** `status`, `curve` and the like; `p:`, `m:` or `e:` and a name for the columns of the runs. */
  key: string;
  kind:
    | 'name'
    | 'status'
    | 'job'
    | 'started'
    | 'duration'
    | 'tags'
    | 'labels'
    | 'note'
    | 'folder'
    | 'parameter'
    | 'metric'
    | 'environment'
    | 'curve';
  /** Name of the hyperparameter, metric or fact; empty for other columns. */
  name: string;
  isNumber: boolean;
  /** Number of different values; 0 for columns of metrics and of the run. */
  distinct: number;
  mode: MetricMode;
  goal: Goal;
  /** Step of a metric with the mode `at`; null for other columns. */
  step: number | null;
  /** Return the value by which rows are sorted. */
  value(run: RunRow): CellValue;
}

/** Columns that every table has, in their order before and after the others. */
const FIRST = ['status', 'job', 'started', 'duration', 'folder'] as const;
const LAST = ['curve', 'tags', 'labels', 'note'] as const;

/** Numbers of columns that are shown at first. */
const DEFAULT_PARAMETERS = 3;
const DEFAULT_METRICS = 2;

const PREFIX = { parameters: 'p:', metrics: 'm:', environment: 'e:' };
const KIND = {
  parameters: 'parameter',
  metrics: 'metric',
  environment: 'environment'
} as const;

/** Return all columns that the table can show, in the order in which it shows them. */
export function allColumns(
  columns: readonly RunColumn[],
  choices: IMetricChoices
): ITableColumn[] {
  const of = (group: RunColumn['group']): ITableColumn[] =>
    columns
      .filter(column => column.group === group)
      .sort(compareFor(group))
      .map(column => dataColumn(column, choices));
  const metrics = of('metrics');
  return [
    ...FIRST.map(kind => runColumn(kind)),
    ...of('environment'),
    ...of('parameters'),
    ...metrics,
    ...LAST.map(kind => runColumn(kind, metrics[0]?.name))
  ];
}

/** Return the keys of the columns that are shown at first. */
export function defaultKeys(all: readonly ITableColumn[]): string[] {
  const first = (kind: ITableColumn['kind'], count: number): string[] =>
    all
      .filter(column => column.kind === kind)
      .slice(0, count)
      .map(({ key }) => key);
  const metrics = first('metric', DEFAULT_METRICS);
  return [
    ...['status', 'job', 'started', 'duration'],
    ...first('parameter', DEFAULT_PARAMETERS),
    ...metrics,
    ...(metrics.length > 0 ? ['curve'] : []),
    'tags'
  ];
}

/**
 * Return the columns of the table.
 *
 * @param all - All columns.
 * @param keys - The keys of the columns to show; null for the default.
 */
export function shownColumns(
  all: readonly ITableColumn[],
  keys: readonly string[] | null
): ITableColumn[] {
  const shown = new Set(keys ?? defaultKeys(all));
  const columns = all.filter(({ key }) => shown.has(key));
  const metric = columns.find(({ kind }) => kind === 'metric');
  return columns.map(column =>
    column.kind === 'curve' && metric
      ? { ...column, name: metric.name }
      : column
  );
}

/** Hyperparameters with the most values come first, and metrics that most runs have. */
function compareFor(
  group: RunColumn['group']
): (a: RunColumn, b: RunColumn) => number {
  const byName = (a: RunColumn, b: RunColumn): number =>
    a.name < b.name ? -1 : 1;
  if (group === 'environment') {
    return byName;
  }
  if (group === 'parameters') {
    return (a, b) => b.distinct - a.distinct || b.runs - a.runs || byName(a, b);
  }
  const isOfInterest = ({ name, goal }: RunColumn): number =>
    (/val|eval/i.test(name) ? 3 : /test/i.test(name) ? 2 : 0) +
    (goal === null ? 0 : 1);
  return (a, b) =>
    b.runs - a.runs || isOfInterest(b) - isOfInterest(a) || byName(a, b);
}

function dataColumn(column: RunColumn, choices: IMetricChoices): ITableColumn {
  const { name, group } = column;
  const [mode, goal] = [modeOf(column, choices), goalOf(column, choices)];
  const value =
    group === 'metrics'
      ? metricReader(column, choices)
      : (run: RunRow): CellValue =>
          Object.hasOwn(run[group], name) ? run[group][name] : null;
  return {
    key: PREFIX[group] + name,
    kind: KIND[group],
    name,
    isNumber: column.kind === 'number',
    distinct: group === 'metrics' ? 0 : column.distinct,
    mode,
    goal,
    step: mode === 'at' ? choices.steps[name] : null,
    value
  };
}

const VALUES: Record<
  (typeof FIRST)[number] | (typeof LAST)[number],
  (run: RunRow) => CellValue
> = {
  status: run => run.status,
  job: run => run.job?.name ?? null,
  started: run => run.started_at,
  duration: run => run.seconds,
  folder: run => run.path,
  curve: () => null,
  tags: run => run.tags.join(', ') || null,
  labels: run => labelsOf(run).join(', ') || null,
  note: run => run.note || null
};

function runColumn(
  kind: (typeof FIRST)[number] | (typeof LAST)[number],
  name = ''
): ITableColumn {
  return {
    key: kind,
    kind,
    name: kind === 'curve' ? name : '',
    isNumber: kind === 'started' || kind === 'duration',
    distinct: 0,
    mode: 'best',
    goal: null,
    step: null,
    value: VALUES[kind]
  };
}

/** The column of names, which is always shown. */
export const NAME_COLUMN: ITableColumn = {
  ...runColumn('status'),
  key: 'name',
  kind: 'name',
  value: run => run.name
};
