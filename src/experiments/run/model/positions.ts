/** Step, epoch and time of the same values, to read one axis from another. */
import { nearest } from '../../charts/lines';
import { Curve } from '../../../api/types';
import { XAxis } from '../../types';

/** Width that makes the server return all values that it keeps, so that the axes have the same values. */
export const POSITIONS_WIDTH = 4000;

/** A position in the training; null where it is unknown. */
export interface IPosition {
  step: number | null;
  epoch: number | null;
  /** Seconds since the epoch of the clock. */
  time: number | null;
}

/** The same values on the three axes. */
export class Positions {
  /**
   * @param curves - Curves of one metric of one run, by their axis. An axis without the same number of values is
   *   ignored.
   */
  constructor(
    private readonly _curves: Readonly<Record<XAxis, Curve | undefined>>
  ) {}

  /**
   * Return the position that is nearest to a place on an axis.
   *
   * @param at - The place; the time is in seconds since the epoch.
   * @param x - The axis.
   */
  at(at: number, x: XAxis): IPosition | null {
    const own = this._curves[x]?.x;
    if (!own?.length) {
      return null;
    }
    const index = isAscending(own) ? nearest(own, at) : nearestOf(own, at);
    const read = (axis: XAxis): number | null => {
      const values = this._curves[axis]?.x;
      return values?.length === own.length ? values[index] : null;
    };
    return { step: read('step'), epoch: read('epoch'), time: read('time') };
  }
}

function isAscending(values: readonly number[]): boolean {
  return values.every(
    (value, index) => index === 0 || values[index - 1] <= value
  );
}

/** Return the last index of the value that is nearest to a position; values are in any order. */
function nearestOf(values: readonly number[], at: number): number {
  return values.reduce(
    (best, value, index) =>
      Math.abs(value - at) <= Math.abs(values[best] - at) ? index : best,
    0
  );
}
