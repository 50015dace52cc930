/** Curves as lines of a chart: gaps, smoothing, log scale, common x values. */
import { Curve } from '../../api/types';
import { finite } from './numbers';

/** Curves with fewer values are not smoothed. */
export const SMOOTHED_FROM = 50;
/** A log scale needs values that span more than this factor. */
const LOG_SPAN = 50;

/**
 * A part of a curve whose x values do not decrease. A curve has several parts if its steps go back, as they do
 * after a restart from a checkpoint.
 */
export interface IPart {
  x: readonly number[];
  /** Null is a gap in the line. */
  y: readonly (number | null)[];
  /** Means of the values for which the points stand, if they stand for several. */
  means?: readonly (number | null)[];
}

/** Points of a curve as the server sends them. */
type Points = Pick<Curve, 'x' | 'y'> & Partial<Pick<Curve, 'means'>>;

/**
 * Add gaps to a curve over steps where the first and the last of the values were that are no finite numbers. The
 * server leaves these values out.
 */
export function withGaps(curve: Curve): Points {
  const { first_step, last_step, count } = curve.not_finite;
  const x = [...curve.x];
  const y = [...curve.y];
  const means = curve.means && [...curve.means];
  for (const step of count > 0 ? [first_step, last_step].map(finite) : []) {
    const index = step === null ? -1 : x.findIndex(at => at >= step);
    if (step !== null && index > 0 && x[index] > step) {
      x.splice(index, 0, step);
      y.splice(index, 0, 'nan');
      means?.splice(index, 0, 'nan');
    }
  }
  return { x, y, means };
}

/** Return the parts of a curve. Values that are no finite numbers are gaps. */
export function partsOf({ x, y, means }: Points): IPart[] {
  const begins = x.flatMap((at, index) =>
    index === 0 || at < x[index - 1] ? index : []
  );
  return begins.map((begin, part) => {
    const end = begins[part + 1];
    return {
      x: x.slice(begin, end),
      y: y.slice(begin, end).map(finite),
      ...(means && { means: means.slice(begin, end).map(finite) })
    };
  });
}

/**
 * Return the exponential moving average of values, corrected for its start as TensorBoard does.
 *
 * @param values - The values; a gap stays a gap and does not change the average.
 * @param weight - Weight of the past, from 0 (no smoothing) to less than 1.
 */
export function smooth(
  values: readonly (number | null)[],
  weight: number
): (number | null)[] {
  let [average, correction] = [0, 1];
  return values.map(value => {
    if (value === null) {
      return null;
    }
    average = average * weight + value * (1 - weight);
    correction *= weight;
    return average / (1 - correction);
  });
}

/** Return true if a log scale suits values: all are above 0, and they span more than a factor of 50. */
export function suitsLog(parts: readonly IPart[]): boolean {
  let [least, greatest] = [Infinity, 0];
  for (const { y } of parts) {
    for (const value of y) {
      if (value !== null) {
        least = Math.min(least, value);
        greatest = Math.max(greatest, value);
      }
    }
  }
  return least > 0 && greatest / least > LOG_SPAN;
}

/** Values of several parts at common x values, as uPlot takes them. */
export interface IJoined {
  x: number[];
  /** For each part: a number, null for a gap, or undefined where the part has no value. */
  y: (number | null | undefined)[][];
}

/** Join parts at the sorted union of their x values. An x value that a part has twice occurs twice. */
export function join(parts: readonly IPart[]): IJoined {
  const most = new Map<number, number>();
  for (const part of parts) {
    part.x.forEach((at, index) => {
      const times = index - firstOf(part.x, index) + 1;
      most.set(at, Math.max(most.get(at) ?? 0, times));
    });
  }
  const x: number[] = [];
  const places = new Map<number, number>();
  for (const at of [...most.keys()].sort((a, b) => a - b)) {
    places.set(at, x.length);
    for (let times = most.get(at) ?? 0; times > 0; times--) {
      x.push(at);
    }
  }
  const y = parts.map(part => {
    const values = new Array<number | null | undefined>(x.length);
    part.x.forEach((at, index) => {
      const place = (places.get(at) ?? 0) + index - firstOf(part.x, index);
      values[place] = part.y[index];
    });
    return values;
  });
  return { x, y };
}

/** Return the index of the first of the equal x values that end at an index. */
function firstOf(x: readonly number[], index: number): number {
  let first = index;
  while (first > 0 && x[first - 1] === x[index]) {
    first--;
  }
  return first;
}

/**
 * Return the index of the x value that is nearest to a position; -1 without x values.
 *
 * @param x - Ascending values.
 * @param at - The position.
 */
export function nearest(x: readonly number[], at: number): number {
  const right = Math.min(firstFrom(x, at), x.length - 1);
  return right > 0 && at - x[right - 1] <= x[right] - at ? right - 1 : right;
}

/** Return the index of the first of some ascending values from a position on; their number if there is none. */
export function firstFrom(x: readonly number[], at: number): number {
  let [low, high] = [0, x.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/**
 * Return the value of a curve at a position: the nearest value of the last part that reaches there.
 *
 * @param parts - The parts of the curve.
 * @param at - The position; null returns the last value.
 * @returns Null if the curve does not reach the position.
 */
export function valueAt(
  parts: readonly IPart[],
  at: number | null
): number | null {
  for (const { x, y } of [...parts].reverse()) {
    if (at === null) {
      const last = [...y].reverse().find(value => value !== null);
      if (last !== undefined) {
        return last;
      }
    } else if (x[0] <= at && at <= x[x.length - 1]) {
      return y[nearest(x, at)];
    }
  }
  return null;
}
