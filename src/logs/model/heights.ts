/** Heights of the rows of a log. */
import { LogLine } from '../../api/types';

/**
 * Holds the heights of a window's rows, in px. A height is estimated until the row is measured.
 *
 * A window of 10,000 lines is laid out in every frame in which lines arrive, so only new rows are estimated.
 * A height is valid as long as the row's line is the same object.
 */
export class LogHeights {
  /** @param _estimate - Returns the estimated height of a row, in px. */
  constructor(private readonly _estimate: (line: LogLine) => number) {}

  /**
   * Return the upper edges of all rows and the lower edge of the last row, in px. The next call overwrites
   * the array.
   *
   * @param lines - The window's lines.
   * @param first - Ordinal of the first line.
   * @param extra - Height of dividers and notes at a row, by the row's index.
   */
  tops(
    lines: readonly LogLine[],
    first: number,
    extra: ReadonlyMap<number, number>
  ): Float64Array {
    this._align(lines.length, first);
    const { _lines: known, _heights: heights } = this;
    const { length } = lines;
    if (this._tops.length <= length) {
      this._tops = roomFor(length + 1);
    }
    const tops = this._tops.subarray(0, length + 1);
    const hasExtra = extra.size > 0;
    let top = 0;
    tops[0] = 0;
    for (let index = 0; index < length; index++) {
      const line = lines[index];
      if (known[index] !== line) {
        known[index] = line;
        heights[index] = this._estimate(line);
      }
      top += heights[index];
      if (hasExtra) {
        top += extra.get(index) ?? 0;
      }
      tops[index + 1] = top;
    }
    return tops;
  }

  /** Return true if a row was measured. */
  isMeasured(line: LogLine): boolean {
    return this._measured.has(line);
  }

  /**
   * Store the measured height of a row.
   *
   * @param ordinal - Ordinal of the line.
   * @param line - The line.
   * @param height - The height in px.
   * @returns True if the height differs from the previous one.
   */
  measured(ordinal: number, line: LogLine, height: number): boolean {
    const index = ordinal - this._first;
    this._measured.add(line);
    if (this._lines[index] !== line) {
      return false;
    }
    const differs = Math.abs(this._heights[index] - height) > 0.5;
    this._heights[index] = height;
    return differs;
  }

  /** Move the heights to the indices that their lines have now, and grow the array if needed. */
  private _align(length: number, first: number): void {
    const shift = first - this._first;
    this._first = first;
    const { _lines: lines } = this;
    if (length > this._heights.length) {
      const heights = roomFor(length);
      heights.set(this._heights);
      this._heights = heights;
    }
    if (Math.abs(shift) >= Math.max(lines.length, length)) {
      lines.length = 0;
    } else if (shift > 0) {
      lines.splice(0, shift);
      this._heights.copyWithin(0, shift);
    } else if (shift < 0) {
      // `undefined` is equal to no line, so `tops` estimates the heights of the new rows.
      this._lines = [...new Array<undefined>(-shift), ...lines];
      this._heights.copyWithin(-shift, 0);
    }
    this._lines.length = length;
  }

  private _first = 0;
  private _lines: (LogLine | undefined)[] = [];
  private _heights: Float64Array = new Float64Array(0);
  private _tops: Float64Array = new Float64Array(1);
  private readonly _measured = new WeakSet<LogLine>();
}

/** Return an array that is larger than needed, so that it isn't replaced at every new line. */
function roomFor(length: number): Float64Array {
  return new Float64Array(length + (length >> 1) + 64);
}
