/** Selection of text in a log. */
import { ISignal, Signal } from '@lumino/signaling';
import { LogLine } from '../../api/types';
import { parseLine } from './ansi';
import { LogModel } from './log';

/**
 * Position between two characters of a line that the window holds. Columns count the characters that the page
 * shows.
 */
export interface ILogPlace {
  readonly ordinal: number;
  readonly column: number;
}

/** Position in a line. It stays valid after the window moved away from the line. */
export interface ILogPoint extends Pick<LogLine, 'stream' | 'offset' | 'time'> {
  readonly column: number;
  /** Ordinal of the line in the given generation of the window. */
  readonly ordinal: number;
  readonly generation: number;
}

/** One end of a selection: a position, or the start or end of the log. */
export type LogEnd = ILogPoint | 'start' | 'end';

/** A selection, its earlier end first. */
export interface ILogPassage {
  readonly from: LogEnd;
  readonly to: LogEnd;
}

/** Movement of a selection's focus. */
export type LogStep =
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'pageUp'
  | 'pageDown'
  | 'lineStart'
  | 'lineEnd'
  | 'start'
  | 'end';

/**
 * The selected part of a log.
 *
 * A selection by the browser would not be enough: the document holds only the rows in view, and the window
 * only the lines around them.
 */
export class LogSelection {
  constructor(private readonly _log: LogModel) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** End at which the selection began; null if there is no selection. */
  get anchor(): LogEnd | null {
    return this._anchor;
  }

  /** End that the user moves; null if there is no selection. */
  get focus(): LogEnd | null {
    return this._focus;
  }

  /** True if no character is selected. There may be a caret: anchor and focus at one position. */
  get isEmpty(): boolean {
    return this._order === 0;
  }

  /** True if the whole log is selected. */
  get isAll(): boolean {
    const passage = this.passage();
    return passage?.from === 'start' && passage.to === 'end';
  }

  /** Select the text between two ends. */
  set(anchor: LogEnd, focus: LogEnd): void {
    if (!same(anchor, this._anchor) || !same(focus, this._focus)) {
      this._anchor = anchor;
      this._focus = focus;
      this._changed.emit();
    }
  }

  /** Select the whole log. */
  selectAll(): void {
    this.set('start', 'end');
  }

  /** Remove the selection. */
  clear(): void {
    if (this._anchor !== null) {
      this._anchor = this._focus = null;
      this._changed.emit();
    }
  }

  /** Convert a place in the window to a point; null if the window doesn't hold the line. */
  pointAt({ ordinal, column }: ILogPlace): ILogPoint | null {
    const { window } = this._log;
    const line = window.line(ordinal);
    if (!line) {
      return null;
    }
    const { stream, offset, time } = line;
    const { generation } = window;
    return { stream, offset, time, column, ordinal, generation };
  }

  /** Return the selection, its earlier end first; null if no character is selected. */
  passage(): ILogPassage | null {
    const { _anchor: anchor, _focus: focus, _order: order } = this;
    if (anchor === null || focus === null || order === 0) {
      return null;
    }
    return order < 0
      ? { from: anchor, to: focus }
      : { from: focus, to: anchor };
  }

  /**
   * Return the place of one end among some of the window's lines, or the nearest place in these lines.
   *
   * @param end - The end.
   * @param start - Ordinal of the first line.
   * @param stop - Ordinal after the last line.
   */
  within(end: LogEnd, start: number, stop: number): ILogPlace {
    const ordinal = this.ordinalOf(end);
    if (ordinal < start) {
      return { ordinal: start, column: 0 };
    }
    if (ordinal >= stop) {
      const line = this._log.window.line(stop - 1);
      return { ordinal: stop - 1, column: line ? shownText(line).length : 0 };
    }
    return { ordinal, column: (end as ILogPoint).column };
  }

  /**
   * Return the ordinal of an end's line: -Infinity if the line is before the window, Infinity if it is after
   * the window.
   */
  ordinalOf(end: LogEnd): number {
    if (end === 'start' || end === 'end') {
      return end === 'start' ? -Infinity : Infinity;
    }
    const { window } = this._log;
    const { stream, offset, ordinal } = end;
    const is = (line: LogLine | undefined): boolean =>
      line?.stream === stream && line.offset === offset;
    if (is(window.line(ordinal)) && end.generation === window.generation) {
      return ordinal;
    }
    if (end.generation === window.generation && !window.line(ordinal)) {
      return ordinal < window.first ? -Infinity : Infinity;
    }
    const { lines } = window;
    const found = lines.findIndex(is);
    if (found >= 0) {
      return window.first + found;
    }
    return lines.length > 0 && this._compareLines(end, lines[0]) < 0
      ? -Infinity
      : Infinity;
  }

  /** Return the selected lines and their selected text if the page holds all of the text, else null. */
  localLines(): { line: LogLine; text: string }[] | null {
    const passage = this.passage();
    const { window } = this._log;
    if (!passage || window.lines.length === 0) {
      return null;
    }
    const { from, to } = passage;
    const held =
      (from === 'start' ? window.atStart : isFinite(this.ordinalOf(from))) &&
      (to === 'end' ? window.atEnd : isFinite(this.ordinalOf(to)));
    if (!held) {
      return null;
    }
    const first = this.within(from, window.first, window.end);
    const last = this.within(to, window.first, window.end);
    const found = [];
    for (let ordinal = first.ordinal; ordinal <= last.ordinal; ordinal++) {
      const line = window.line(ordinal);
      if (line) {
        const text = shownText(line);
        const start = ordinal === first.ordinal ? first.column : 0;
        const end = ordinal === last.ordinal ? last.column : text.length;
        if (line.cut && end === text.length) {
          return null; // The page holds only the beginning of this line.
        }
        found.push({ line, text: text.slice(start, end) });
      }
    }
    return found;
  }

  /**
   * Move the focus one step. The anchor stays.
   *
   * @param step - The movement.
   * @param from - Anchor of a new selection if there is none.
   * @param page - Number of rows of `pageUp` and `pageDown`.
   */
  move(step: LogStep, from: ILogPlace, page: number): void {
    const { window } = this._log;
    if (step === 'start' || step === 'end') {
      this._moveTo(step, from);
      return;
    }
    if (window.lines.length === 0) {
      return;
    }
    const { ordinal, column } =
      this._focus === null
        ? from
        : this.within(this._focus, window.first, window.end);
    const length = (at: number): number => {
      const line = window.line(at);
      return line ? shownText(line).length : 0;
    };
    const row = (by: number): ILogPlace => {
      const next = ordinal + by;
      if (next < window.first) {
        return { ordinal: window.first, column: 0 };
      }
      return next >= window.end
        ? { ordinal: window.end - 1, column: length(window.end - 1) }
        : { ordinal: next, column: Math.min(column, length(next)) };
    };
    const places: Record<typeof step, () => ILogPlace> = {
      up: () => row(-1),
      down: () => row(1),
      pageUp: () => row(-page),
      pageDown: () => row(page),
      lineStart: () => ({ ordinal, column: 0 }),
      lineEnd: () => ({ ordinal, column: length(ordinal) }),
      left: () =>
        column > 0 || ordinal === window.first
          ? { ordinal, column: Math.max(0, column - 1) }
          : { ordinal: ordinal - 1, column: length(ordinal - 1) },
      right: () =>
        column < length(ordinal) || ordinal === window.end - 1
          ? { ordinal, column: Math.min(length(ordinal), column + 1) }
          : { ordinal: ordinal + 1, column: 0 }
    };
    const point = this.pointAt(places[step]());
    if (point) {
      this._moveTo(point, from);
    }
  }

  /** Set the focus, and the anchor to `from` if there is no selection. */
  private _moveTo(focus: LogEnd, from: ILogPlace): void {
    const anchor = this._anchor ?? this.pointAt(from);
    if (anchor) {
      this.set(anchor, focus);
    }
  }

  /** Negative if the anchor is before the focus, positive if it is after the focus, 0 if both are equal. */
  private get _order(): number {
    const { _anchor: anchor, _focus: focus } = this;
    if (anchor === null || focus === null || same(anchor, focus)) {
      return 0;
    }
    const [a, b] = [this.ordinalOf(anchor), this.ordinalOf(focus)];
    if (a !== b) {
      return a < b ? -1 : 1;
    }
    if (typeof anchor === 'string' || typeof focus === 'string') {
      return anchor === 'start' || focus === 'end' ? -1 : 1;
    }
    return this._compareLines(anchor, focus) || anchor.column - focus.column;
  }

  /** Compare two lines by the server's order: time, then stream. */
  private _compareLines(
    a: Pick<LogLine, 'stream' | 'offset' | 'time'>,
    b: Pick<LogLine, 'stream' | 'offset' | 'time'>
  ): number {
    if (a.stream === b.stream) {
      return a.offset - b.offset;
    }
    const place = ({ stream }: Pick<LogLine, 'stream'>): number =>
      (this._log.streams ?? []).findIndex(({ id }) => id === stream);
    return (a.time ?? 0) - (b.time ?? 0) || place(a) - place(b);
  }

  private _anchor: LogEnd | null = null;
  private _focus: LogEnd | null = null;
  private readonly _changed = new Signal<this, void>(this);
}

/** Return a line's text as the page shows it. */
export function shownText(line: LogLine): string {
  return parseLine(line).text;
}

function same(a: LogEnd, b: LogEnd | null): boolean {
  return (
    a === b ||
    (b !== null &&
      typeof a !== 'string' &&
      typeof b !== 'string' &&
      a.stream === b.stream &&
      a.offset === b.offset &&
      a.column === b.column)
  );
}
