/** The reading line that all charts of a view share, and their common zoom. */
import { ISignal, Signal } from '@lumino/signaling';
import { nearest } from './lines';

/** A range of the x axis. */
export type Range = readonly [first: number, last: number];

/** Position of the reading line. It follows the pointer until a click holds it. */
export class ReadingLine {
  /** Emitted when the line moves, or is held or let go. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted when the range of the x axis changes. */
  get zoomed(): ISignal<this, void> {
    return this._zoomed;
  }

  /** Position on the x axis; null without a line. */
  get at(): number | null {
    return this._at;
  }

  /** True if the line stays when the pointer leaves. */
  get isHeld(): boolean {
    return this._isHeld;
  }

  /** The shown range of the x axis; null for all values. */
  get range(): Range | null {
    return this._range;
  }

  /** Move the line with the pointer; null removes it. A held line stays. */
  follow(at: number | null): void {
    if (!this._isHeld) {
      this._set(at, false);
    }
  }

  /** Hold the line at a position, or let it go if it is held. */
  click(at: number): void {
    this._set(at, !this._isHeld);
  }

  /** Hold the line at a position. */
  hold(at: number): void {
    this._set(at, true);
  }

  /** Remove the line. */
  release(): void {
    this._set(null, false);
  }

  /**
   * Move the line by keyboard and hold it.
   *
   * @param x - The x values of the chart, ascending.
   * @param by - Number of points; infinite numbers go to the ends.
   */
  step(x: readonly number[], by: number): void {
    if (x.length === 0) {
      return;
    }
    const last = x.length - 1;
    const from =
      this._at === null ? (by > 0 ? -1 : last + 1) : nearest(x, this._at);
    this._set(x[Math.min(last, Math.max(0, from + by))], true);
  }

  /** Show a range of the x axis; null shows all values. */
  zoom(range: Range | null): void {
    if (range?.[0] !== this._range?.[0] || range?.[1] !== this._range?.[1]) {
      this._range = range;
      this._zoomed.emit();
    }
  }

  /**
   * Zoom in or out around the line, or around the middle.
   *
   * @param x - The x values of the chart, ascending.
   * @param factor - Factor of the shown width.
   */
  zoomBy(x: readonly number[], factor: number): void {
    const all: Range = [x[0], x[x.length - 1]];
    const [first, last] = this._range ?? all;
    const middle = this._at ?? (first + last) / 2;
    const range: Range = [
      Math.max(all[0], middle - (middle - first) * factor),
      Math.min(all[1], middle + (last - middle) * factor)
    ];
    if (range[1] > range[0]) {
      const isAll = range[0] <= all[0] && range[1] >= all[1];
      this.zoom(isAll ? null : range);
    }
  }

  private _set(at: number | null, isHeld: boolean): void {
    if (at !== this._at || isHeld !== this._isHeld) {
      this._at = at;
      this._isHeld = isHeld;
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _zoomed = new Signal<this, void>(this);
  private _at: number | null = null;
  private _isHeld = false;
  private _range: Range | null = null;
}
