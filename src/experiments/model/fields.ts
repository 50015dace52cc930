/** Fields of runs that filters, groups and columns name. */
import { Goal, IRunColumn, IRunRow, Scalar } from '../types';
import { metricValue, MetricMode } from './metrics';

/** Value of a field; a list for fields with several values, undefined without a value. */
export type FieldValue = Scalar | readonly string[] | undefined;

/** A field that a filter can name. */
export interface IField {
  /** Name in filters and column heads. */
  name: string;
  group: IRunColumn['group'] | 'run';
  /** Number of runs that have the field; 0 for the fields of every run. */
  runs: number;
  read(run: IRunRow): FieldValue;
}

/** Which value of each metric is meant, and in which direction it improves. */
export interface IMetricChoices {
  modes: Readonly<Record<string, MetricMode>>;
  goals: Readonly<Record<string, 'min' | 'max'>>;
}

/** Fields of every run. */
const RUN_FIELDS: Record<string, (run: IRunRow) => FieldValue> = {
  'run.name': run => run.name,
  'run.id': run => run.id,
  'run.tag': run => run.tags,
  'run.label': run => run.labels,
  'run.job': run => run.job?.name,
  'run.status': run => run.status,
  'run.origin': run => run.origin,
  'run.folder': run => run.path,
  'run.note': run => run.note || undefined,
  'run.seconds': run => run.seconds ?? undefined,
  'run.epoch': run => run.epoch ?? undefined
};

/** Return the direction in which a metric improves: the user's choice, or the server's guess. */
export function goalOf(column: IRunColumn, choices: IMetricChoices): Goal {
  return choices.goals[column.name] ?? column.goal;
}

/** Return the value of a metric that its column shows: the best, or the last if no direction is known. */
export function modeOf(
  column: IRunColumn,
  choices: IMetricChoices
): MetricMode {
  const fallback = goalOf(column, choices) === null ? 'last' : 'best';
  return choices.modes[column.name] ?? fallback;
}

/** The fields of the runs of a table. */
export class Fields {
  constructor(
    readonly columns: readonly IRunColumn[],
    choices: IMetricChoices
  ) {
    for (const column of columns) {
      const { name, group, runs } = column;
      const known = group === 'environment' ? `env.${name}` : name;
      if (!this._fields.has(known)) {
        const read = readerOf(column, choices);
        this._fields.set(known, { name: known, group, runs, read });
      }
    }
    for (const [name, read] of Object.entries(RUN_FIELDS)) {
      this._fields.set(name, { name, group: 'run', runs: 0, read });
    }
  }

  /** All fields: hyperparameters and metrics of most runs first. */
  get all(): readonly IField[] {
    return [...this._fields.values()];
  }

  /** Return a field by its name. */
  find(name: string): IField | undefined {
    return this._fields.get(name);
  }

  /** Return the name that is most similar to a name that no run has; null if none is similar. */
  similar(name: string): string | null {
    const most = Math.max(1, Math.floor(name.length / 3));
    let best: string | null = null;
    let least = most + 1;
    for (const known of this._fields.keys()) {
      const distance = editDistance(name.toLowerCase(), known.toLowerCase());
      if (distance < least) {
        [best, least] = [known, distance];
      }
    }
    return best;
  }

  private readonly _fields = new Map<string, IField>();
}

function readerOf(
  column: IRunColumn,
  choices: IMetricChoices
): (run: IRunRow) => FieldValue {
  const { name, group } = column;
  if (group !== 'metrics') {
    return run =>
      Object.hasOwn(run[group], name) ? run[group][name] : undefined;
  }
  const [mode, goal] = [modeOf(column, choices), goalOf(column, choices)];
  return run =>
    Object.hasOwn(run.metrics, name)
      ? (metricValue(run.metrics[name], mode, goal) ?? undefined)
      : undefined;
}

/** Return the number of letters to insert, delete or replace to get from one word to another. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 8) {
    return Infinity;
  }
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[to.length];
}
