/** Scroll position in a log of which the page holds only a window. */
import { LogWindow } from '../loading/window';
import { ILogReveal } from './place';

/**
 * Largest height of the scrolled element, in px. Browsers stop drawing elements that are higher than about 17
 * million px.
 */
const HIGHEST = 12_000_000;

/** The rows that the view draws. */
export interface IRowRange {
  /** Index of the first row among the window's lines. */
  start: number;
  /** Index after the last row. */
  end: number;
  /** Distance from the top of the view to the first row, in px. */
  y: number;
}

/** Number of the log's bytes before, in and after the window. */
export interface ILogExtent {
  before: number;
  within: number;
  after: number;
}

/**
 * Holds the scroll position.
 *
 * The position is the line at the top of the view and the number of px of this line that are above the view.
 * The scroll bar covers the whole log, whose height is estimated from its bytes. So a short scroll is exact
 * in px, and a long drag of the scroll bar goes to a fraction of the log.
 */
export class LogScroll {
  constructor(private readonly _window: LogWindow) {}

  /** Height of the view, in px. */
  viewHeight = 0;

  /**
   * Update the positions of the rows. Call this after lines, heights or the extent changed.
   *
   * @param tops - Upper edges of all rows, and the lower edge of the last row, in px.
   * @param extent - Sizes from which the height of the whole log is estimated.
   */
  layout(tops: Float64Array, extent: ILogExtent): void {
    const { generation } = this._window;
    this._tops = tops;
    this._estimate(extent);
    if (generation !== this._generation) {
      this._generation = generation;
      this._ordinal = this._window.first;
      this._px = 0;
      this._revealed = null;
    }
    const isResized = this.viewHeight !== this._laidOut;
    this._laidOut = this.viewHeight;
    const revealed = this._revealed;
    if (revealed && isResized && this._window.line(revealed.ordinal)) {
      this.reveal(revealed.ordinal, revealed.align);
    } else {
      this._moveTo(this._position());
    }
  }

  /** Height of the scrolled element, in px. */
  get height(): number {
    return Math.max(this.viewHeight, Math.min(HIGHEST, this._total));
  }

  /** Position that the scroll bar must have, in px. */
  get scrollTop(): number {
    const way = this._total - this.viewHeight;
    if (way <= 0) {
      return 0;
    }
    const position = this._before + this._position();
    const range = this.height - this.viewHeight;
    return Math.min(range, Math.max(0, (position / way) * range));
  }

  /** True if the lower edge of the window's last line is in view. */
  get atBottom(): boolean {
    return this._position() >= this._lowest() - 1;
  }

  /**
   * Return the sides on which the window must be extended soon.
   *
   * @param rows - Number of rows outside the view that the window should hold.
   */
  needs(rows: number): { before: boolean; after: boolean } {
    const first = this._ordinal - this._window.first;
    const last = this._at(this._position() + this.viewHeight);
    return {
      before: !this._window.atStart && first < rows,
      after: !this._window.atEnd && last > this._window.lines.length - rows
    };
  }

  /**
   * Move the view after the user scrolled.
   *
   * @param from - Previous position of the scroll bar, in px.
   * @param to - New position of the scroll bar, in px.
   * @returns The fraction of the log to load if the window doesn't hold the new position, else null.
   */
  scrolled(from: number, to: number): number | null {
    this._revealed = null;
    const range = this.height - this.viewHeight;
    if (range <= 0) {
      return null;
    }
    if (this._whole && range === this._total - this.viewHeight) {
      this._moveTo(to);
      return null;
    }
    if (Math.abs(to - from) <= 4 * this.viewHeight) {
      this._moveTo(this._position() + to - from);
      return null;
    }
    const fraction = Math.min(1, Math.max(0, to / range));
    const position = fraction * (this._total - this.viewHeight) - this._before;
    const { atStart, atEnd } = this._window;
    if (
      (position >= 0 || atStart) &&
      (position <= this._lowest() || atEnd) &&
      (fraction > 0 || atStart) &&
      (fraction < 1 || atEnd)
    ) {
      this._moveTo(position);
      return null;
    }
    return fraction;
  }

  /** Scroll to the window's last line. */
  toEnd(): void {
    this._revealed = null;
    this._moveTo(Infinity);
  }

  /**
   * Scroll to a line. The line keeps its place when the height of the view changes, until the next scroll: what is
   * above the log may grow while the log comes into view.
   *
   * @param ordinal - The line.
   * @param align - Position of the line in the view; `nearest` scrolls as little as possible.
   */
  reveal(ordinal: number, align: ILogReveal['align']): void {
    this._revealed = { ordinal, align };
    const index = ordinal - this._window.first;
    const top = this._tops[index] ?? 0;
    const below = this.viewHeight - ((this._tops[index + 1] ?? top) - top);
    if (align === 'nearest') {
      const position = Math.max(top - below, Math.min(top, this._position()));
      this._moveTo(position);
    } else {
      this._moveTo(align === 'start' ? top : top - below / 2);
    }
  }

  /** Return the ordinals of the first and last line in view. */
  visible(): { first: number; last: number } {
    const bottom = this._position() + this.viewHeight - 1;
    return {
      first: this._ordinal,
      last: this._window.first + Math.max(0, this._at(bottom))
    };
  }

  /** Return the rows in view and `more` rows on either side. */
  range(more: number): IRowRange {
    const position = this._position();
    const { length } = this._window.lines;
    const start = Math.max(0, this._at(position) - more);
    const end = Math.min(
      length,
      this._at(position + this.viewHeight) + more + 1
    );
    return { start, end, y: (this._tops[start] ?? 0) - position };
  }

  /** Estimate the height of the log from the average height of a byte in the window. */
  private _estimate({ before, within, after }: ILogExtent): void {
    const height = this._tops[this._tops.length - 1];
    const perByte = within > 0 ? height / within : 0;
    const { atStart, atEnd } = this._window;
    this._before = atStart ? 0 : before * perByte;
    this._total = this._before + height + (atEnd ? 0 : after * perByte);
    this._whole = atStart && atEnd;
  }

  /** Height of the window's part above the view, in px. */
  private _position(): number {
    return (this._tops[this._ordinal - this._window.first] ?? 0) + this._px;
  }

  /** Largest value of `_position`, in px. */
  private _lowest(): number {
    return Math.max(0, this._tops[this._tops.length - 1] - this.viewHeight);
  }

  private _moveTo(position: number): void {
    const target = Math.min(this._lowest(), Math.max(0, position));
    const index = this._at(target);
    this._ordinal = this._window.first + index;
    this._px = target - (this._tops[index] ?? 0);
  }

  /** Return the index of the row at a distance from the window's top. */
  private _at(px: number): number {
    let low = 0;
    let high = Math.max(0, this._tops.length - 2);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this._tops[middle] <= px) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  private _tops: Float64Array = new Float64Array(1);
  /** Estimated height of the log before the window, in px. */
  private _before = 0;
  /** Estimated height of the whole log, in px. */
  private _total = 0;
  /** True if the window holds the whole log. */
  private _whole = false;
  /** Ordinal of the line at the top of the view. */
  private _ordinal = 0;
  /** Height of this line's part above the view, in px. */
  private _px = 0;
  private _generation = 0;
  /** Height of the view at the last layout, in px. */
  private _laidOut = 0;
  /** The line that was revealed last; null after a scroll. */
  private _revealed: ILogReveal | null = null;
}
