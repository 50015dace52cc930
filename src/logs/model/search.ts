/** Search in a whole log. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { LogHit, LogLine } from '../../api/types';
import { LogConnectionLost, LogSearchReplaced } from '../loading/session';
import { LogModel } from './log';

/** Query of a search. */
export interface ILogQuery {
  readonly pattern: string;
  readonly regex: boolean;
  readonly caseSensitive: boolean;
}

const NOTHING: ILogQuery = { pattern: '', regex: false, caseSensitive: false };
const LIMIT = 1000;

/** Searches the whole log. The server finds the existing lines; the page adds new lines that match. */
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

  /** True if `hits` contains all lines that match. */
  get complete(): boolean {
    return this._complete;
  }

  /** True if the server ended the search before it read the whole log. */
  get partial(): boolean {
    return this._partial;
  }

  /** Index of the hit that the user went to last; null for none. */
  get current(): number | null {
    return this._current;
  }

  /** True while the server's answer is awaited. */
  get pending(): boolean {
    return this._pending;
  }

  /** True if the connection closed before the answer arrived. */
  get lost(): boolean {
    return this._lost;
  }

  /** Error message if the search failed or ended early. */
  get error(): string | null {
    return this._error;
  }

  /** The query as a regular expression of JavaScript; null if only the server can apply it. */
  get expression(): RegExp | null {
    return this._expression;
  }

  /** Emitted when the query, the hits or the state of the search changed. */
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

  /** Return the index of a line's hit. */
  hitOf(line: Pick<LogLine, 'stream' | 'offset'>): number | undefined {
    return this._places.get(placeOf(line));
  }

  /** Set the query and search. Resolves when the answer has arrived. */
  async set(query: ILogQuery): Promise<void> {
    this._query = query;
    this._expression = compile(query);
    await this.repeat();
  }

  /** Clear the query and the hits. */
  clear(): void {
    void this.set(NOTHING);
  }

  /** Search again, after the shown streams changed or the connection is back. */
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

  /** Go to the next hit. The first call goes to the first hit that isn't above the view. */
  next(): void {
    this._go(this._current === null ? this._nearest() : this._current + 1);
  }

  /** Go to the previous hit. */
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

  /** Index of the first hit that isn't earlier than the top of the view. */
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

  /** Add new lines that match, as long as the server's answer is complete. */
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
  /** Indices of the hits by `placeOf`. */
  private _places = new Map<string, number>();
  private _complete = true;
  /** Number of the current search. An answer to an earlier search is ignored. */
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

/**
 * Compile a query. Returns null for an empty pattern and for patterns that only Python's regular expressions
 * support.
 */
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
