import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { LogHit, LogLine } from '../../api/types';
import { LogConnectionLost, LogSearchReplaced } from './session';
import { LogModel } from './log';

/** What is looked for. */
export interface ILogQuery {
  readonly pattern: string;
  readonly regex: boolean;
  readonly caseSensitive: boolean;
}

const NOTHING: ILogQuery = { pattern: '', regex: false, caseSensitive: false };
const LIMIT = 1000;

/** A search over the whole log, done by the server; lines that come later are added. */
export class LogSearch implements IDisposable {
  constructor(private readonly _log: LogModel) {
    _log.added.connect(this._onAdded, this);
  }

  get query(): ILogQuery {
    return this._query;
  }

  /** Lines that match, in the order of the log. */
  get hits(): readonly LogHit[] {
    return this._hits;
  }

  /** Whether `hits` are all that there are. */
  get complete(): boolean {
    return this._complete;
  }

  /** True if the server ended the search before it had seen the whole log. */
  get partial(): boolean {
    return this._partial;
  }

  /** Index of the hit that was gone to. */
  get current(): number | null {
    return this._current;
  }

  get pending(): boolean {
    return this._pending;
  }

  /** True if the connection was lost before the answer came: nothing is known of what would be found. */
  get lost(): boolean {
    return this._lost;
  }

  /** Why there is no answer, or only a part of it, in words. */
  get error(): string | null {
    return this._error;
  }

  /** The query as this page can apply it to a line; null where only the server can. */
  get expression(): RegExp | null {
    return this._expression;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._log.added.disconnect(this._onAdded, this);
      Signal.clearData(this);
    }
  }

  /** Index of the hit in a line. */
  hitOf(line: Pick<LogLine, 'stream' | 'offset'>): number | undefined {
    return this._places.get(placeOf(line));
  }

  /** Look for something else; resolves when the hits are there. */
  async set(query: ILogQuery): Promise<void> {
    this._query = query;
    this._expression = compile(query);
    await this.repeat();
  }

  /** End the search. */
  clear(): void {
    void this.set(NOTHING);
  }

  /** Search again: the streams that are looked at have changed, or the connection is back. */
  async repeat(): Promise<void> {
    const query = this._query;
    const turn = ++this._turn;
    this._take([], true);
    this._current = null;
    this._error = null;
    this._lost = this._partial = false;
    this._pending = query.pattern !== '';
    this._changed.emit();
    if (!this._pending) {
      return;
    }
    try {
      const answer = await this._log.search(this, {
        pattern: query.pattern,
        regex: query.regex,
        case_sensitive: query.caseSensitive,
        limit: LIMIT
      });
      if (turn === this._turn) {
        this._take(answer.hits, answer.complete);
        this._error = answer.stopped;
        this._partial = answer.stopped !== null;
      }
    } catch (error) {
      if (turn === this._turn) {
        this._complete = false;
        this._lost = error instanceof LogConnectionLost;
        if (!this._lost && !(error instanceof LogSearchReplaced)) {
          this._error = error instanceof Error ? error.message : String(error);
        }
      }
    }
    if (turn === this._turn && !this._isDisposed) {
      this._pending = false;
      this._changed.emit();
    }
  }

  /** Go to the next hit; the first time to the first one that is not above the view. */
  next(): void {
    this._go(this._current === null ? this._nearest() : this._current + 1);
  }

  /** Go to the hit before. */
  previous(): void {
    this._go(this._current === null ? this._nearest() - 1 : this._current - 1);
  }

  private _go(index: number): void {
    const count = this._hits.length;
    if (count > 0) {
      this._current = (index + count) % count;
      const { stream, offset } = this._hits[this._current];
      this._changed.emit();
      this._log.go({ at: 'line', stream, offset });
    }
  }

  private _nearest(): number {
    const time = this._log.topTime();
    const index =
      time === null
        ? -1
        : this._hits.findIndex(hit => hit.time !== null && hit.time >= time);
    return Math.max(0, index);
  }

  private _take(hits: LogHit[], complete: boolean): void {
    this._hits = hits;
    this._complete = complete;
    this._places = new Map(hits.map((hit, index) => [placeOf(hit), index]));
  }

  private _onAdded(_: unknown, lines: readonly LogLine[]): void {
    const expression = this._expression;
    if (!expression || this._pending || !this._complete) {
      return;
    }
    const count = this._hits.length;
    for (const line of lines) {
      if (this._hits.length >= LIMIT) {
        this._complete = false;
        break;
      }
      expression.lastIndex = 0;
      if (this.hitOf(line) === undefined && expression.test(line.text)) {
        this._places.set(placeOf(line), this._hits.length);
        const { stream, offset, time, text } = line;
        this._hits.push({
          stream,
          offset,
          time,
          text,
          spans: [],
          before: [],
          after: []
        });
      }
    }
    if (this._hits.length > count) {
      this._changed.emit();
    }
  }

  private _query = NOTHING;
  private _expression: RegExp | null = null;
  private _hits: LogHit[] = [];
  private _places = new Map<string, number>();
  private _complete = true;
  private _turn = 0;
  private _current: number | null = null;
  private _pending = false;
  private _error: string | null = null;
  private _lost = false;
  private _partial = false;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

function placeOf(line: Pick<LogLine, 'stream' | 'offset'>): string {
  return `${line.stream}:${line.offset}`;
}

/** Python's and JavaScript's regular expressions differ a little; null where JavaScript refuses. */
function compile(query: ILogQuery): RegExp | null {
  if (!query.pattern) {
    return null;
  }
  const source = query.regex
    ? query.pattern
    : query.pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  try {
    return new RegExp(source, query.caseSensitive ? 'g' : 'gi');
  } catch {
    return null;
  }
}
