import { LogLine, LogPage } from '../../api/types';

/** Byte offsets by stream: a place in the merged log. */
export type Cursor = Record<string, number>;

/** How much of a log is held at once. */
export interface IWindowLimits {
  lines: number;
  /** Characters of all lines together, for logs with very long lines. */
  characters: number;
}

const LIMITS: IWindowLimits = { lines: 10_000, characters: 8_000_000 };

/**
 * A contiguous part of the merged log.
 *
 * Lines have ordinals that stay the same while lines are added or dropped at either end; `first` is
 * that of the first line held. `reset` begins anew, with another `generation`.
 */
export class LogWindow {
  constructor(private readonly _limits: IWindowLimits = LIMITS) {}

  lines: LogLine[] = [];
  first = 0;
  generation = 0;
  /** Changes with every change of the lines. */
  version = 0;
  /** Where the part before the window ends, and the part behind it begins. */
  before: Cursor = {};
  after: Cursor = {};
  atStart = false;
  atEnd = false;
  /** Number of lines before the window, where every one of them has been seen. */
  linesBefore: number | null = null;

  /** Ordinal behind the last line. */
  get end(): number {
    return this.first + this.lines.length;
  }

  /** The line with an ordinal. */
  line(ordinal: number): LogLine | undefined {
    return this.lines[ordinal - this.first];
  }

  /** Ordinal of the line that holds a byte of a stream, if the window has it. */
  find(stream: string, offset: number): number | null {
    const index = this.lines.findIndex(line => holds(line, { stream, offset }));
    return index < 0 ? null : this.first + index;
  }

  /** Time of the first line from an ordinal on that has one, among the next 100 lines; null if none has. */
  timeFrom(ordinal: number): number | null {
    const index = Math.max(0, ordinal - this.first);
    return (
      this.lines.slice(index, index + 100).find(line => line.time !== null)
        ?.time ?? null
    );
  }

  /** Hold nothing. */
  clear(): void {
    this.reset({
      lines: [],
      before: {},
      after: {},
      at_start: false,
      at_end: false
    });
  }

  /** Hold a page and nothing else. */
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

  /** Put an earlier page before the first line; the end gives way if that is too much. */
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
   * Put lines behind the last one. A line that is there already is not added again; one that has
   * grown replaces what it was.
   *
   * @returns How many lines are new.
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

  /** Drop lines at the end until the window is within its limits; it is not the log's end then. */
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

  private _over(lines: number, characters: number): boolean {
    return (
      lines > this._limits.lines ||
      (characters > this._limits.characters && lines > 1)
    );
  }

  /** Where each stream's last whole line ends. */
  private readonly _ends = new Map<string, number>();
  /** Ordinal of each stream's line that has no end yet. */
  private readonly _partial = new Map<string, number>();
  private _characters = 0;
}

/** Whether a line has a byte of a stream. */
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
