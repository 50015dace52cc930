/** Fields of runs that filters, groups and columns name. */
import { Fields, FieldValue, IField } from '../../common/filter/fields';
import { RunColumn, RunRow } from '../../api/types';
import { Goal } from '../types';
import { metricValue, MetricMode } from './metrics';
import { ReadStep } from './stepValues';

/** Value of each metric that is used, and the direction in which it improves. */
export interface IMetricChoices {
  modes: Readonly<Record<string, MetricMode>>;
  steps: Readonly<Record<string, number>>;
  /** Reads values at steps. */
  readStep: ReadStep;
  goals: Readonly<Record<string, 'min' | 'max'>>;
}

/** Fields of every run. */
const RUN_FIELDS: Record<string, (run: RunRow) => FieldValue> = {
  'run.name': run => run.name,
  'run.id': run => run.id,
  'run.tag': run => run.tags,
  'run.label': run => run.labels,
  'run.job': run => run.job?.name,
  'run.job_id': run => run.job?.id,
  'run.status': run => run.status,
  'run.origin': run => run.origin,
  'run.folder': run => run.path,
  'run.note': run => run.note || undefined,
  'run.seconds': run => run.seconds ?? undefined,
  'run.epoch': run => run.epoch ?? undefined
};

/** Labels by which jobs find their runs; the pages show the job in place of them. */
const JOB_LABEL = /^job(-uid|-request)?=/;

/** Return the different labels that the script gave to a run. */
export function labelsOf({ labels }: Pick<RunRow, 'labels'>): string[] {
  return [...new Set(labels)].filter(label => !JOB_LABEL.test(label));
}

/** Return the direction in which a metric improves: the user's choice, or the server's guess. */
export function goalOf(
  column: RunColumn,
  choices: Pick<IMetricChoices, 'goals'>
): Goal {
  return choices.goals[column.name] ?? column.goal;
}

/** Return the value of a metric that its column shows: the best, or the last if no direction is known. */
export function modeOf(column: RunColumn, choices: IMetricChoices): MetricMode {
  const fallback = goalOf(column, choices) === null ? 'last' : 'best';
  const mode = choices.modes[column.name] ?? fallback;
  return mode === 'at' && choices.steps[column.name] === undefined
    ? fallback
    : mode;
}

/** Return a function that reads the value of a metric that its column shows. */
export function metricReader(
  column: RunColumn,
  choices: IMetricChoices
): (run: RunRow) => number | null {
  const { name } = column;
  const [mode, goal] = [modeOf(column, choices), goalOf(column, choices)];
  if (mode === 'at') {
    const { readStep, steps } = choices;
    return run => readStep(name, steps[name], run.id);
  }
  return run =>
    Object.hasOwn(run.metrics, name)
      ? metricValue(run.metrics[name], mode, goal)
      : null;
}

/**
 * Return the fields of the runs of a table: hyperparameters and metrics of most runs first.
 *
 * @param columns - The columns of the runs.
 * @param choices - Which value of each metric is meant.
 */
export function fieldsOf(
  columns: readonly RunColumn[],
  choices: IMetricChoices
): Fields<RunRow> {
  return new Fields([
    ...columns.map((column): IField<RunRow> => {
      const { name, group, runs } = column;
      return {
        name: group === 'environment' ? `env.${name}` : name,
        group,
        rows: runs,
        read: readerOf(column, choices)
      };
    }),
    ...Object.entries(RUN_FIELDS).map(([name, read]): IField<RunRow> => ({
      name,
      group: 'run',
      rows: 0,
      read
    }))
  ]);
}

function readerOf(
  column: RunColumn,
  choices: IMetricChoices
): (run: RunRow) => FieldValue {
  const { name, group } = column;
  if (group !== 'metrics') {
    return run =>
      Object.hasOwn(run[group], name) ? run[group][name] : undefined;
  }
  const read = metricReader(column, choices);
  return run => read(run) ?? undefined;
}
