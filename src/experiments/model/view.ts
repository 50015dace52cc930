/** Settings of the table of runs: filter, group, order and columns. */
import { MetricMode } from './metrics';

/** Order of the rows. */
export interface IOrder {
  /** Key of a column. */
  key: string;
  down: boolean;
}

/** Settings of the table, which are kept and saved under names. */
export interface ITableView {
  /** Expression that the shown runs match. */
  filter: string;
  /** Contents path of a folder; its runs and those of the folders below it are shown. */
  folder: string;
  /** Key of the groups of rows: empty, or a key of `GROUPS`, or `p:` and a hyperparameter. */
  group: string;
  order: IOrder;
  /** Keys of the shown columns; null for the default. */
  columns: readonly string[] | null;
  /** Values of metrics that the columns show; the best by default. */
  modes: Readonly<Record<string, MetricMode>>;
  /** Steps of the metrics with the mode `at`. */
  steps: Readonly<Record<string, number>>;
  /** Directions of metrics that the user turned. */
  goals: Readonly<Record<string, 'min' | 'max'>>;
  /** True to show archived runs as well. */
  archived: boolean;
  /** The table, or parallel coordinates of its runs. */
  shape: TableShape;
}

/** How the runs are shown. */
export type TableShape = 'table' | 'parallel';

/** Keys of groups of rows, besides hyperparameters. */
export const GROUPS = ['sweep', 'folder', 'name', 'tag'];

/** The settings at first. */
export const DEFAULT_VIEW: ITableView = {
  filter: '',
  folder: '',
  group: '',
  order: { key: 'started', down: true },
  columns: null,
  modes: {},
  steps: {},
  goals: {},
  archived: false,
  shape: 'table'
};

/** Return settings that were kept. Parts that are invalid have their default. */
export function readView(kept: unknown): ITableView {
  const known = recordOf(kept);
  const text = (value: unknown): string =>
    typeof value === 'string' ? value : '';
  const order = recordOf(known.order);
  return {
    filter: text(known.filter),
    folder: text(known.folder),
    group: text(known.group),
    order: text(order.key)
      ? { key: text(order.key), down: order.down === true }
      : DEFAULT_VIEW.order,
    columns: Array.isArray(known.columns) ? known.columns.map(String) : null,
    modes: choicesOf(known.modes, ['best', 'last', 'step', 'at']),
    steps: stepsOf(known.steps),
    goals: choicesOf(known.goals, ['min', 'max']),
    archived: known.archived === true,
    shape: known.shape === 'parallel' ? 'parallel' : 'table'
  };
}

/** Return views that were saved under names. */
export function readViews(kept: unknown): Record<string, ITableView> {
  return Object.fromEntries(
    Object.entries(recordOf(kept)).map(([name, view]) => [name, readView(view)])
  );
}

function choicesOf<Choice extends string>(
  kept: unknown,
  choices: readonly Choice[]
): Record<string, Choice> {
  return Object.fromEntries(
    Object.entries(recordOf(kept)).flatMap(([name, value]) => {
      const choice = choices.find(known => known === value);
      return choice ? [[name, choice]] : [];
    })
  );
}

function stepsOf(kept: unknown): Record<string, number> {
  return Object.fromEntries(
    Object.entries(recordOf(kept)).flatMap(([name, value]) =>
      typeof value === 'number' && value >= 0 ? [[name, value]] : []
    )
  );
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
