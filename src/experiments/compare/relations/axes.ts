/** Axes of parallel coordinates and of the scatter plot. */
import { writeName, writeValue } from '../../../common/filter/complete';
import { RunRow } from '../../../api/types';
import { Goal, Scalar } from '../../types';
import { GoalOf, metricOf } from '../differences';

/** Numbers that span more than this factor get a log scale. */
const LOG_SPAN = 10;
/** Labels of an axis of texts. */
const MOST_LABELS = 12;
/** An axis with at most so many different numbers has a label for each. */
const MOST_TICKS = 6;
/** Least distance of two labels, as a part of the axis. */
const LEAST_GAP = 0.07;

/** An axis: a parameter or a metric. */
export interface IAxis {
  key: string;
  name: string;
  group: 'parameters' | 'metrics';
  goal: Goal;
  /** Return the value of a run; null if the run has none. */
  read(run: RunRow): Scalar;
  /** Texts in the order of the axis; null for an axis of numbers. */
  texts: readonly string[] | null;
  /** Least and greatest number; for texts, the indices of the first and the last. */
  domain: readonly [number, number];
  /** The different numbers if there are few; else empty. */
  ticks: readonly number[];
  isLog: boolean;
  /** True if less is better, so that the least value is at the top. */
  isTurned: boolean;
}

/** A range of an axis, in positions from 0 at the bottom to 1 at the top. */
export type Brush = readonly [low: number, high: number];

/** Return the axis of a parameter or metric for runs. */
export function axisOf(
  name: string,
  group: IAxis['group'],
  runs: readonly RunRow[],
  goalOf: GoalOf
): IAxis {
  const goal = group === 'metrics' ? goalOf(name) : null;
  const read = (run: RunRow): Scalar =>
    group === 'metrics'
      ? metricOf(run, name, goal)
      : Object.hasOwn(run.parameters, name)
        ? run.parameters[name]
        : null;
  const values = runs.map(read).filter(value => value !== null);
  const numbers = values.filter(
    value => typeof value === 'number' && Number.isFinite(value)
  ) as number[];
  const areNumbers = values.length > 0 && numbers.length === values.length;
  const texts = areNumbers
    ? null
    : [...new Set(values.map(String))].sort((a, b) =>
        a.localeCompare(b, undefined, { numeric: true })
      );
  const domain: [number, number] = areNumbers
    ? [Math.min(...numbers), Math.max(...numbers)]
    : [0, Math.max(0, (texts?.length ?? 1) - 1)];
  const different = [...new Set(numbers)].sort((a, b) => a - b);
  return {
    ticks: areNumbers && different.length <= MOST_TICKS ? different : [],
    ...{ key: `${group}:${name}`, name, group, goal, read, texts, domain },
    isLog: areNumbers && domain[0] > 0 && domain[1] / domain[0] > LOG_SPAN,
    isTurned: goal === 'min'
  };
}

/** Return the position of a run on an axis, from 0 at the bottom to 1 at the top; null without a value. */
export function positionOf(axis: IAxis, run: RunRow): number | null {
  const value = axis.read(run);
  if (value === null) {
    return null;
  }
  const number = axis.texts
    ? axis.texts.indexOf(String(value))
    : (value as number);
  return positionOfNumber(axis, number);
}

function positionOfNumber(axis: IAxis, number: number): number {
  const scale = axis.isLog ? Math.log : (value: number): number => value;
  const [least, greatest] = axis.domain.map(scale);
  const share =
    greatest > least ? (scale(number) - least) / (greatest - least) : 0.5;
  return axis.isTurned ? 1 - share : share;
}

/** Return the number at a position; the inverse of the scale. */
export function numberAt(axis: IAxis, position: number): number {
  const share = axis.isTurned ? 1 - position : position;
  const [least, greatest] = axis.isLog
    ? axis.domain.map(Math.log)
    : axis.domain;
  const value = least + (greatest - least) * share;
  return axis.isLog ? Math.exp(value) : value;
}

/** A label of an axis. */
export interface ILabel {
  position: number;
  /** A text of the axis, or a number. */
  value: string | number;
}

/** Return the labels of an axis. */
export function labelsOf(axis: IAxis): ILabel[] {
  if (axis.texts) {
    const every = Math.ceil(axis.texts.length / MOST_LABELS);
    return axis.texts.flatMap((value, index) =>
      index % every === 0
        ? [{ position: positionOfNumber(axis, index), value }]
        : []
    );
  }
  const [least, greatest] = axis.domain;
  if (least === greatest) {
    return [{ position: 0.5, value: least }];
  }
  if (axis.ticks.length > 0) {
    const labels: ILabel[] = [];
    for (const value of axis.ticks) {
      const position = positionOfNumber(axis, value);
      const gap = Math.min(
        ...labels.map(label => Math.abs(label.position - position))
      );
      if (gap >= LEAST_GAP) {
        labels.push({ position, value });
      }
    }
    return labels;
  }
  return [0, 0.5, 1].map(position => {
    const value = numberAt(axis, position);
    return { position, value: Number(value.toPrecision(3)) };
  });
}

/** Return true if a run is within all brushed ranges. */
export function isWithin(
  run: RunRow,
  axes: readonly IAxis[],
  brushes: ReadonlyMap<string, Brush>
): boolean {
  return axes.every(axis => {
    const brush = brushes.get(axis.key);
    if (!brush) {
      return true;
    }
    const position = positionOf(axis, run);
    return position !== null && position >= brush[0] && position <= brush[1];
  });
}

/** Return a brushed range as a condition of the table's filter: `val.accuracy >= 0.98 and val.accuracy <= 1`. */
export function conditionOf(axis: IAxis, [low, high]: Brush): string {
  const name = writeName(axis.name);
  if (axis.texts) {
    const inside = axis.texts.filter((_, index) => {
      const position = positionOfNumber(axis, index);
      return position >= low && position <= high;
    });
    // Between two texts is none: no run has an empty one.
    const texts = inside.length > 0 ? inside : [''];
    return `${name} in (${texts.map(writeValue).join(', ')})`;
  }
  const ends = [numberAt(axis, low), numberAt(axis, high)];
  const [least, greatest] = [Math.min(...ends), Math.max(...ends)];
  const [isFromStart, isToEnd] = axis.isTurned
    ? [high >= 1, low <= 0]
    : [low <= 0, high >= 1];
  const conditions = [
    ...(isFromStart ? [] : [`${name} >= ${round(least)}`]),
    ...(isToEnd ? [] : [`${name} <= ${round(greatest)}`])
  ];
  return conditions.join(' and ') || `${name} >= ${round(least)}`;
}

/** Return the conditions of all brushed ranges, joined by `and`. */
export function filterOf(
  axes: readonly IAxis[],
  brushes: ReadonlyMap<string, Brush>
): string {
  return axes
    .flatMap(axis => {
      const brush = brushes.get(axis.key);
      return brush ? [conditionOf(axis, brush)] : [];
    })
    .join(' and ');
}

function round(value: number): string {
  return String(Number(value.toPrecision(6)));
}
