/** Table of a comparison: parameters that differ, best values of metrics, facts about the runs. */
import { finite, formatValue } from '../charts/numbers';
import { bestOf } from '../run/model/best';
import { RunRow } from '../../api/types';
import { Goal, Scalar } from '../types';

/** A row of the table: one value for each run. */
export interface IDifference {
  name: string;
  /** Undefined where a run does not have the value. */
  values: (Scalar | undefined)[];
  /** Indices of the best values; empty if no direction is known or only one run has a value. */
  best: number[];
  /** True if the runs have different values. */
  differs: boolean;
  /** True if numbers are values of a metric, which are rounded; the numbers of other rows are settings. */
  isMetric?: boolean;
}

/** Return the direction in which a metric improves. */
export type GoalOf = (metric: string) => Goal;

/** Return the parameters of runs in the order of their appearance. */
export function parameterRows(runs: readonly RunRow[]): IDifference[] {
  return rowsOf(runs.map(({ parameters }) => parameters));
}

/** Return facts about the environment of runs. */
export function environmentRows(runs: readonly RunRow[]): IDifference[] {
  return rowsOf(runs.map(({ environment }) => environment));
}

/** Return a row for each name, in the order of their appearance. */
export function rowsOf(
  values: readonly Readonly<Record<string, Scalar>>[]
): IDifference[] {
  const names = new Set(values.flatMap(each => Object.keys(each)));
  return [...names].map(name => {
    const cells = values.map(each =>
      Object.hasOwn(each, name) ? each[name] : undefined
    );
    return { name, values: cells, best: [], differs: differ(cells) };
  });
}

/** Return the best value of each metric, or its last value if no direction is known. */
export function metricRows(
  runs: readonly RunRow[],
  goalOf: GoalOf
): IDifference[] {
  const names = new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)));
  return [...names].map(name => {
    const goal = goalOf(name);
    const numbers = runs.map(run => metricOf(run, name, goal) ?? undefined);
    const values = runs.map(
      (run, index) => numbers[index] ?? oddValue(run, name)
    );
    return {
      name,
      values,
      best: bestIndices(numbers, goal),
      differs: differ(values),
      isMetric: true
    };
  });
}

/** Return the last value of a metric that never was a finite number as text: “NaN”. */
function oddValue(run: RunRow, metric: string): string | undefined {
  return Object.hasOwn(run.metrics, metric)
    ? formatValue(run.metrics[metric].last)
    : undefined;
}

/** Return the best value of a run's metric, or its last value if no direction is known; null without a number. */
export function metricOf(
  run: RunRow,
  metric: string,
  goal: Goal
): number | null {
  const summary = Object.hasOwn(run.metrics, metric)
    ? run.metrics[metric]
    : undefined;
  return goal === null
    ? finite(summary?.last)
    : (bestOf(summary, goal)?.value ?? null);
}

function bestIndices(
  values: readonly (number | undefined)[],
  goal: Goal
): number[] {
  const known = values.filter(value => value !== undefined);
  if (goal === null || known.length < 2) {
    return [];
  }
  const best = goal === 'min' ? Math.min(...known) : Math.max(...known);
  // If all are equal, none is the best.
  return known.every(value => value === best)
    ? []
    : values.flatMap((value, index) => (value === best ? [index] : []));
}

/** Return true if values differ. */
export function differ(values: readonly (Scalar | undefined)[]): boolean {
  return values.some(value => value !== values[0]);
}

/** Return the difference of two numbers, second minus first; null if one is no number. */
export function differenceOf([first, second]: readonly (Scalar | undefined)[]):
  number | null {
  return typeof first === 'number' && typeof second === 'number'
    ? second - first
    : null;
}

/**
 * Return the metric by which runs are ordered: one of a validation whose direction is known, if there is one.
 *
 * @param runs - The runs.
 * @param goalOf - Returns the direction of a metric.
 */
export function mainMetric(
  runs: readonly RunRow[],
  goalOf: GoalOf
): string | null {
  const counts = new Map<string, number>();
  for (const { metrics } of runs) {
    for (const name of Object.keys(metrics)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const rank = (name: string): number =>
    (goalOf(name) === null ? 0 : 4) +
    (/^(val|valid|validation|eval|test)\b|[_/](val|eval)/i.test(name) ? 2 : 0) +
    (goalOf(name) === 'max' ? 1 : 0);
  const [best] = [...counts.keys()].sort(
    (a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || rank(b) - rank(a)
  );
  return best ?? null;
}

/** Return runs ordered by a metric, the best first; runs without a value last. */
export function ordered(
  runs: readonly RunRow[],
  metric: string | null,
  goal: Goal
): RunRow[] {
  if (metric === null) {
    return [...runs];
  }
  const sign = goal === 'min' ? 1 : -1;
  const value = (run: RunRow): number => {
    const found = metricOf(run, metric, goal);
    return found === null ? Infinity : sign * found;
  };
  const byId = new Map(runs.map(run => [run.id, value(run)]));
  const at = ({ id }: RunRow): number => byId.get(id) ?? Infinity;
  return [...runs].sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
}
