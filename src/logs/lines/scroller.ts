import { ILogReveal, LogModel } from '../model/log';
import { IRowRange, LogScroll } from '../model/scroll';
import { bytesUpTo } from '../model/streams';

/** Rows that exist beyond those in view, on either side; while the view jumps, the next jump leaves these behind too. */
const OVERSCAN = 20;
const OVERSCAN_IN_JUMPS = 2;
/** Milliseconds after a jump in which the next one may come. */
const JUMPS = 150;
/** Rows from the window's edge at which more are loaded. */
const NEAR_EDGE = 600;
/**
 * Milliseconds for which the scroll bar is left alone, as moving it would end a scroll that goes on:
 * after a key or the wheel, until the scroll that it asks for has begun; and after a scroll, until the
 * browser says that it has ended, where it does say so.
 */
const BEGINS = 500;
const GOES_ON = 'onscrollend' in window ? 2000 : 150;

/** Between the browser's scroll bar and the place in the log. */
export class LogScroller {
  constructor(private readonly _log: LogModel) {
    this.scroll = new LogScroll(_log.window);
  }

  readonly scroll: LogScroll;
  /** The element with the rows in it. */
  block: HTMLElement | null = null;

  /** The element that scrolls. */
  get box(): HTMLElement | null {
    return this._box;
  }

  set box(box: HTMLElement | null) {
    this._box?.removeEventListener('scrollend', this._onScrollEnd);
    this._box = box;
    box?.addEventListener('scrollend', this._onScrollEnd);
  }

  /**
   * For `useSyncExternalStore`: so the rows are drawn in the same frame in which the browser has
   * scrolled or lines have come, and no empty place is ever seen.
   */
  readonly subscribe = (draw: () => void): (() => void) => {
    const { _log: log } = this;
    this._draw = draw;
    log.changed.connect(this.update);
    log.revealed.connect(this._onRevealed, this);
    return () => {
      window.clearTimeout(this._timer);
      window.clearTimeout(this._rest);
      log.changed.disconnect(this.update);
      log.revealed.disconnect(this._onRevealed, this);
    };
  };

  readonly version = (): number => this._version;

  /** Draw the rows again. */
  readonly update = (): void => {
    this._version += 1;
    this._draw();
  };

  /** Before the rows are drawn: find out which. */
  layout(tops: Float64Array): IRowRange {
    const { scroll, _log: log } = this;
    scroll.layout(tops, extentOf(log));
    if (this._reveal && log.window.line(this._reveal.ordinal)) {
      scroll.reveal(this._reveal.ordinal, this._reveal.align);
      this._reveal = null;
    } else if (log.following) {
      scroll.toEnd();
    }
    const { version, first } = log.window;
    const range = scroll.range(OVERSCAN_IN_JUMPS);
    const [start, end] = [first + range.start, first + range.end];
    const jumps = start >= this._drawn.end || end <= this._drawn.start;
    this._range = jumps ? range : scroll.range(OVERSCAN);
    this._drawn = {
      start: first + this._range.start,
      end: first + this._range.end
    };
    window.clearTimeout(this._rest);
    if (jumps) {
      this._rest = window.setTimeout(this.update, JUMPS);
    }
    this._placed = version;
    return this._range;
  }

  /** After the rows were drawn: put them in their place, tell which are in view, and have more loaded in time. */
  place(): void {
    const { scroll, box, block, _log: log } = this;
    log.setView(log.window.lines.length ? scroll.visible() : null);
    if (!box || !block || !this._range) {
      return;
    }
    if (log.following || this._barMayMove()) {
      const wanted = scroll.scrollTop;
      if (Math.abs(wanted - this._last) > 0.5 || wanted < 1) {
        box.scrollTop = wanted;
        this._last = box.scrollTop; // as the browser rounds it; reading it costs a layout
      }
    }
    block.style.transform = `translateY(${this._last + this._range.y}px)`;
    const needs = scroll.needs(NEAR_EDGE);
    if (needs.before) {
      void log.loadBefore();
    }
    if (needs.after) {
      void log.loadAfter();
    }
  }

  /** The browser has scrolled. */
  readonly onScroll = (): void => {
    const { scroll, _log: log } = this;
    if (!this.box?.clientHeight) {
      return; // hidden, as while the theme changes: it says 0 and keeps its place
    }
    const from = this._last;
    const to = (this._last = this.box.scrollTop);
    if (to === from) {
      return; // sideways, or by `place`
    }
    this._leaveBar(GOES_ON);
    if (log.following && (to > from || this._barAtEnd())) {
      // Nobody's doing: so does the browser when the view grows, or comes back from being hidden.
      this.update();
      return;
    }
    const elsewhere = scroll.scrolled(from, to);
    if (elsewhere === 1) {
      log.go({ at: 'end' });
    } else if (elsewhere === 0) {
      log.go({ at: 'start' });
    } else if (elsewhere !== null) {
      log.go({ at: 'fraction', fraction: elsewhere });
    } else if (to < from && log.following) {
      log.setFollowing(false);
    } else if (to > from && log.window.atEnd && scroll.atBottom) {
      log.setFollowing(true);
    }
    this.update();
  };

  /** A key or the wheel, by which the browser may scroll. */
  readonly onInput = (): void => {
    this._leaveBar(Math.max(BEGINS, this._leftUntil - performance.now()));
  };

  /** Bring a row into view, no further than needed. */
  reveal(ordinal: number): void {
    this._log.setFollowing(false);
    this._onRevealed(this, { ordinal, align: 'nearest' });
  }

  /** Put the bar where it belongs; the rows are drawn again only if the lines have changed. */
  private readonly _placeAgain = (): void => {
    if (this._log.window.version !== this._placed) {
      this.update();
    } else if (this.box?.clientHeight) {
      this.place();
    }
  };

  private readonly _onScrollEnd = (): void => this._leaveBar(0);

  /** Do not move the scroll bar for so many milliseconds; then put it where it belongs. */
  private _leaveBar(time: number): void {
    this._leftUntil = performance.now() + time;
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(this._placeAgain, time + 10);
  }

  private _barAtEnd(): boolean {
    const { box } = this;
    return !box || box.scrollTop >= box.scrollHeight - box.clientHeight - 1;
  }

  /** Whether the scroll bar may be moved: nobody moves it now, or it cannot go on as it stands. */
  private _barMayMove(): boolean {
    const { scroll } = this;
    const stuck =
      this._last < 1 || this._last > scroll.height - scroll.viewHeight - 1;
    return stuck || performance.now() > this._leftUntil;
  }

  private _onRevealed(_: unknown, reveal: ILogReveal): void {
    this._reveal = reveal;
    if (reveal.align !== 'start') {
      this._leftUntil = -Infinity;
    }
    this.update();
  }

  private _box: HTMLElement | null = null;
  private _draw = (): void => undefined;
  private _version = 0;
  private _range: IRowRange | null = null;
  private _reveal: ILogReveal | null = null;
  private _last = 0;
  /** Ordinals of the rows that were drawn last, `end` excluded. */
  private _drawn = { start: 0, end: 0 };
  private _rest = 0;
  /** Version of the window's lines whose rows were laid out. */
  private _placed = -1;
  private _leftUntil = -Infinity;
  private _timer = 0;
}

function extentOf(log: LogModel): {
  before: number;
  within: number;
  after: number;
} {
  const { window } = log;
  let before = 0;
  let end = 0;
  for (const stream of log.chosen) {
    before += bytesUpTo(stream, window.before[stream.id] ?? 0);
    end += bytesUpTo(stream, window.after[stream.id] ?? 0);
  }
  return { before, within: end - before, after: Math.max(0, log.size - end) };
}
