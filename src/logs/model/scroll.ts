import { LogWindow } from './window';

/** Browsers stop drawing elements that are higher than about 17 million px. */
const HIGHEST = 12_000_000;

/** The rows to be drawn. */
export interface IRowRange {
  /** Indices into the window's lines, `end` excluded. */
  start: number;
  end: number;
  /** Where the first of them begins, from the top of the view, in px. */
  y: number;
}

/** Bytes of the log before the window, in it, and behind it. */
export interface ILogExtent {
  before: number;
  within: number;
  after: number;
}

/**
 * Scrolling through a log of which only a window is held.
 *
 * The place is an anchor: a line at the top of the view, and px of it that are scrolled away. The
 * scroll bar stands for the whole log, whose height is estimated from bytes; so small movements
 * are exact in px, and a jump of the bar is to a fraction of the log.
 */
export class LogScroll {
  constructor(private readonly _window: LogWindow) {}

  /** Height of the visible part. */
  viewHeight = 0;

  /**
   * Take over where the rows of the window are. To be called when lines, heights or the extent changed.
   *
   * @param tops - Upper edges of all rows, and the lower edge of the last, in px.
   */
  layout(tops: Float64Array, extent: ILogExtent): void {
    const { generation } = this._window;
    this._tops = tops;
    this._estimate(extent);
    if (generation !== this._generation) {
      this._generation = generation;
      this._ordinal = this._window.first;
      this._px = 0;
    }
    this._moveTo(this._position());
  }

  /** Height for the scrolled element, in px. */
  get height(): number {
    return Math.max(this.viewHeight, Math.min(HIGHEST, this._total));
  }

  /** Where the scroll bar ought to stand, in px. */
  get scrollTop(): number {
    const way = this._total - this.viewHeight;
    if (way <= 0) {
      return 0;
    }
    const position = this._before + this._position();
    const range = this.height - this.viewHeight;
    return Math.min(range, Math.max(0, (position / way) * range));
  }

  /** Whether the last line that is held is in view, down to its lower edge. */
  get atBottom(): boolean {
    return this._position() >= this._lowest() - 1;
  }

  /** Whether lines above or below will soon be needed. */
  needs(rows: number): { before: boolean; after: boolean } {
    const first = this._ordinal - this._window.first;
    const last = this._at(this._position() + this.viewHeight);
    return {
      before: !this._window.atStart && first < rows,
      after: !this._window.atEnd && last > this._window.lines.length - rows
    };
  }

  /**
   * The scroll bar was moved.
   *
   * @returns The fraction of the log to load where that is not in the window, else null.
   */
  scrolled(from: number, to: number): number | null {
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

  /** Show the last line that is held. */
  toEnd(): void {
    this._moveTo(Infinity);
  }

  /** Show a line at the top, in the middle, or where it takes the least scrolling. */
  reveal(ordinal: number, align: 'start' | 'center' | 'nearest'): void {
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

  /** Ordinals of the lines in view. */
  visible(): { first: number; last: number } {
    const bottom = this._position() + this.viewHeight - 1;
    return {
      first: this._ordinal,
      last: this._window.first + Math.max(0, this._at(bottom))
    };
  }

  /** The rows in view and `more` on either side. */
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

  private _estimate({ before, within, after }: ILogExtent): void {
    const height = this._tops[this._tops.length - 1];
    const perByte = within > 0 ? height / within : 0;
    const { atStart, atEnd } = this._window;
    this._before = atStart ? 0 : before * perByte;
    this._total = this._before + height + (atEnd ? 0 : after * perByte);
    this._whole = atStart && atEnd;
  }

  /** Px of the window above the view. */
  private _position(): number {
    return (this._tops[this._ordinal - this._window.first] ?? 0) + this._px;
  }

  private _lowest(): number {
    return Math.max(0, this._tops[this._tops.length - 1] - this.viewHeight);
  }

  private _moveTo(position: number): void {
    const target = Math.min(this._lowest(), Math.max(0, position));
    const index = this._at(target);
    this._ordinal = this._window.first + index;
    this._px = target - (this._tops[index] ?? 0);
  }

  /** Index of the row at a distance from the window's first. */
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

  private _tops = new Float64Array(1);
  private _before = 0;
  private _total = 0;
  private _whole = false;
  private _ordinal = 0;
  private _px = 0;
  private _generation = 0;
}
