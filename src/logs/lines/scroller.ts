/** Connection of the browser's scroll bar and the scroll position in the log. */
import { LogModel } from '../model/log';
import { ILogReveal } from '../model/place';
import { IRowRange, LogScroll } from '../model/scroll';
import { bytesUpTo } from '../loading/streams';

/**
 * Number of rows that are drawn above and below the view. Fewer rows are drawn during a jump, because the
 * next jump would discard them.
 */
const OVERSCAN = 20;
const OVERSCAN_IN_JUMPS = 2;
/** Time after a jump in which another jump is likely, in ms. */
const JUMPS = 150;
/** Distance from the window's edge at which the next page is loaded, in rows. */
const NEAR_EDGE = 600;
/**
 * Times for which the scroll bar isn't moved, in ms, because moving it would end a scroll that is in
 * progress. `BEGINS` covers the time from a key or wheel event until the browser scrolls. `GOES_ON` covers
 * the time from a scroll event until `scrollend`, or between two scroll events in browsers without
 * `scrollend`.
 */
const BEGINS = 500;
const GOES_ON = 'onscrollend' in window ? 2000 : 150;

/** Keeps the browser's scroll bar and the scroll position in the log in agreement. */
export class LogScroller {
  constructor(private readonly _log: LogModel) {
    this.scroll = new LogScroll(_log.window);
  }

  readonly scroll: LogScroll;
  /** The element that contains the rows. */
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
   * Subscribe to changes, for `useSyncExternalStore`. React renders such changes synchronously, so the rows
   * are drawn in the frame in which the browser scrolled or lines arrived, and the user never sees an empty
   * area.
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

  /** Return the snapshot for `useSyncExternalStore`. */
  readonly version = (): number => this._version;

  /** Render the rows again. */
  readonly update = (): void => {
    this._version += 1;
    this._draw();
  };

  /** Return the rows to draw. Called during a render. */
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

  /**
   * Position the drawn rows, report the lines in view to the log, and load pages near the window's edges.
   * Called after a render.
   */
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
        this._last = box.scrollTop; // The browser rounds it. Reading it forces a layout.
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

  /** Find out where the scroll bar is. Call this after the view was resized or shown: the browser may have moved it. */
  onResized(): void {
    this._last = this.box?.scrollTop ?? 0;
  }

  /** Handle the browser's scroll event. */
  readonly onScroll = (): void => {
    const { scroll, _log: log } = this;
    if (!this.box?.clientHeight) {
      return; // A hidden element (also during a theme change) reports 0 and keeps its position.
    }
    const from = this._last;
    const to = (this._last = this.box.scrollTop);
    if (to === from) {
      return; // A horizontal scroll, or a scroll by `place`.
    }
    if (this.box.clientHeight !== scroll.viewHeight) {
      return; // The browser scrolls by itself when the view is resized. The rows are laid out anew then.
    }
    this._leaveBar(GOES_ON);
    if (log.following && (to > from || this._barAtEnd())) {
      // It does so, too, when the view is shown again.
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

  /** Handle a key or wheel event, after which the browser may scroll. */
  readonly onInput = (): void => {
    this._leaveBar(Math.max(BEGINS, this._leftUntil - performance.now()));
  };

  /** Scroll a row into view by the shortest way. */
  reveal(ordinal: number): void {
    this._log.setFollowing(false);
    this._onRevealed(this, { ordinal, align: 'nearest' });
  }

  /** Move the scroll bar to its position. The rows are rendered again only if the lines have changed. */
  private readonly _placeAgain = (): void => {
    if (this._log.window.version !== this._placed) {
      this.update();
    } else if (this.box?.clientHeight) {
      this.place();
    }
  };

  private readonly _onScrollEnd = (): void => this._leaveBar(0);

  /** Leave the scroll bar alone for a time in ms, then move it to its position. */
  private _leaveBar(time: number): void {
    this._leftUntil = performance.now() + time;
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(this._placeAgain, time + 10);
  }

  /** Return true if the scroll bar is at its end. */
  private _barAtEnd(): boolean {
    const { box } = this;
    return !box || box.scrollTop >= box.scrollHeight - box.clientHeight - 1;
  }

  /**
   * Return true if the scroll bar may be moved: the user isn't scrolling, or the bar is at an end and the
   * user can't scroll further.
   */
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
  /** Last known position of the scroll bar, in px. */
  private _last = 0;
  /** Ordinals of the rows that were drawn last, `end` excluded. */
  private _drawn = { start: 0, end: 0 };
  /** Timer that draws all rows after a jump. */
  private _rest = 0;
  /** Version of the window's lines whose rows were laid out. */
  private _placed = -1;
  /** Time until which the scroll bar isn't moved, by `performance.now()`. */
  private _leftUntil = -Infinity;
  /** Timer that moves the scroll bar after that time. */
  private _timer = 0;
}

/** Return how many of the log's bytes are before, in and after the window. */
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
