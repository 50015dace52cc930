/** The part of a log that the page holds. */
import { LogLine, LogPage } from '../../api/types';

/** Byte offsets by stream id: a position in the merged log. */
export type Cursor = Record<string, number>;

/** Maximum size of a window. */
export interface IWindowLimits {
  lines: number;
  /** Number of characters of all lines together, for logs with very long lines. */
  characters: number;
}

const LIMITS: IWindowLimits = { lines: 10_000, characters: 8_000_000 };

/**
 * Holds a contiguous part of the merged log.
 *
 * Each line has an ordinal, which stays the same while lines are added or dropped at either end. `first` is
 * the ordinal of the first line. `reset` replaces all lines, assigns new ordinals and increments
 * `generation`.
 */
export class LogWindow {
  constructor(private readonly _limits: IWindowLimits = LIMITS) {}

  lines: LogLine[] = [];
  /** Ordinal of the first line. */
  first = 0;
  /** Number of resets. Ordinals are comparable within one generation only. */
  generation = 0;
  /** Incremented by every change of the lines. */
  version = 0;
  /** Position at which the log before the window ends. */
  before: Cursor = {};
  /** Position at which the log after the window begins. */
  after: Cursor = {};
  /** True if the first line is the log's first line. */
  atStart = false;
  /** True if the last line is the log's last line. */
  atEnd = false;
  /** Number of the log's lines before the window; null if unknown. */
  linesBefore: number | null = null;

  /** Ordinal after the last line. */
  get end(): number {
    return this.first + this.lines.length;
  }

  /** Return the line with this ordinal. */
  line(ordinal: number): LogLine | undefined {
    return this.lines[ordinal - this.first];
  }

  /**
   * Return the ordinal of the line that contains a byte of a stream; null if the window doesn't hold the
   * line.
   */
  find(stream: string, offset: number): number | null {
    const index = this.lines.findIndex(line => holds(line, { stream, offset }));
    return index < 0 ? null : this.first + index;
  }

  /** Return the first time among the 100 lines from an ordinal on; null if these lines have no time. */
  timeFrom(ordinal: number): number | null {
    const index = Math.max(0, ordinal - this.first);
    return (
      this.lines.slice(index, index + 100).find(line => line.time !== null)
        ?.time ?? null
    );
  }

  /** Drop all lines. */
  clear(): void {
    this.reset({
      lines: [],
      before: {},
      after: {},
      at_start: false,
      at_end: false
    });
  }

  /** Replace all lines by a page. */
  reset(page: Omit<LogPage, 'type' | 'request'>): void {
    this.generation += 1;
    this.lines = [];
    this.first = 0;
    this._ends.clear();
    this._partial.clear();
    this._characters = 0;
    this.before = page.before;
    this.atStart = page.at_start;
    this.linesBefore = page.at_start ? 0 : null;
    this.append(page.lines, page.after);
    this.atEnd = page.at_end;
  }

  /**
   * Insert an earlier page before the first line. Lines at the end are dropped if the window exceeds its
   * limits.
   */
  prepend(page: Omit<LogPage, 'type' | 'request'>): void {
    this.lines = [...page.lines, ...this.lines];
    this.first -= page.lines.length;
    this._characters += count(page.lines);
    this.before = page.before;
    this.atStart = page.at_start;
    if (page.at_start) {
      this.linesBefore = 0;
    } else if (this.linesBefore !== null) {
      this.linesBefore -= page.lines.length;
    }
    this.version += 1;
    this.dropEnd();
  }

  /**
   * Append lines.
   *
   * Lines that the window holds already are skipped. A line that had no newline yet is replaced by its longer
   * version.
   *
   * @param lines - Lines after the window's last line.
   * @param after - Position after these lines.
   * @returns The number of new lines.
   */
  append(lines: readonly LogLine[], after: Cursor): number {
    const before = this.end;
    lines.forEach(line => this._put(line));
    this.after = { ...this.after, ...after };
    this.version += 1;
    return this.end - before;
  }

  /** Drop lines at the start until the window is within its limits. */
  dropStart(): void {
    let index = 0;
    let characters = this._characters;
    while (this._over(this.lines.length - index, characters)) {
      characters -= this.lines[index++].text.length;
    }
    if (index === 0) {
      return;
    }
    const dropped = this.lines.splice(0, index);
    this.before = { ...this.before };
    for (const line of dropped) {
      this.before[line.stream] = line.offset + line.size;
    }
    this.first += index;
    this.atStart = false;
    this.linesBefore =
      this.linesBefore === null ? null : this.linesBefore + index;
    this._characters = characters;
    this.version += 1;
  }

  /** Drop lines at the end until the window is within its limits. `atEnd` is false then. */
  dropEnd(): void {
    let length = this.lines.length;
    let characters = this._characters;
    while (this._over(length, characters)) {
      characters -= this.lines[--length].text.length;
    }
    if (length === this.lines.length) {
      return;
    }
    const dropped = this.lines.splice(length);
    this.after = { ...this.after };
    for (const line of dropped.reverse()) {
      this.after[line.stream] = line.offset;
      this._ends.set(line.stream, line.offset);
      this._partial.delete(line.stream);
    }
    this.atEnd = false;
    this._characters = characters;
    this.version += 1;
  }

  /** Append a line, replace a partial line, or skip a line that the window holds. */
  private _put(line: LogLine): void {
    const { stream, offset } = line;
    let place = this._partial.get(stream);
    const known = place === undefined ? undefined : this.line(place);
    if (
      place !== undefined &&
      known?.stream === stream &&
      known.offset === offset
    ) {
      this.lines[place - this.first] = line;
      this._characters += line.text.length - known.text.length;
    } else if (offset < (this._ends.get(stream) ?? 0)) {
      return;
    } else {
      place = this.end;
      this.lines.push(line);
      this._characters += line.text.length;
    }
    if (line.partial) {
      this._partial.set(stream, place);
    } else {
      this._partial.delete(stream);
      this._ends.set(stream, offset + line.size);
    }
  }

  /** True if a window of this size exceeds the limits. A single line of any length is allowed. */
  private _over(lines: number, characters: number): boolean {
    return (
      lines > this._limits.lines ||
      (characters > this._limits.characters && lines > 1)
    );
  }

  /** Offset after each stream's last complete line. */
  private readonly _ends = new Map<string, number>();
  /** Ordinal of each stream's last line if it has no newline yet. */
  private readonly _partial = new Map<string, number>();
  private _characters = 0;
}

/**
 * Return true if a line contains a byte of a stream.
 *
 * @param line - The line. A line of size 0 contains its offset.
 * @param position - Stream and offset of the byte.
 */
export function holds(
  line: LogLine,
  { stream, offset }: { stream: string; offset: number }
): boolean {
  return (
    line.stream === stream &&
    line.offset <= offset &&
    offset < line.offset + Math.max(1, line.size)
  );
}

function count(lines: readonly LogLine[]): number {
  return lines.reduce((sum, line) => sum + line.text.length, 0);
}
