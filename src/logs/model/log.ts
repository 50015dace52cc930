import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import {
  LogAppend,
  LogHits,
  LogLine,
  LogPage,
  LogStream,
  SearchLog
} from '../../api/types';
import { LogPushes } from './pushes';
import { LogPlace, LogReader } from './reader';
import { LogConnectionLost, LogSession } from './session';
import { ILogFilter, LogChoice, SHOW_ALL } from './streams';
import { holds, LogWindow } from './window';

/** Lines behind which following goes to the end instead of through everything. */
const TOO_FAR_BEHIND = 5000;

/** Ordinals of the first and last line in view. */
export interface ILogView {
  first: number;
  last: number;
}

/** A line that the view is to show. */
export interface ILogReveal {
  ordinal: number;
  align: 'start' | 'center' | 'nearest';
}

/**
 * A job's log as its tab shows it: a window of lines around the place that is looked at, which
 * follows the end if wanted. It holds a bounded number of lines, however long the log is.
 */
export class LogModel implements IDisposable {
  constructor(
    private readonly _session: LogSession,
    filter: ILogFilter = SHOW_ALL
  ) {
    this._choice = new LogChoice(filter);
    this._reader = new LogReader(_session, this._choice);
    _session.streams.connect(this._onStreams, this);
    this._pushes = new LogPushes(_session, () => this._changeSoon());
    _session.closed.connect(this._onClosed, this);
  }

  readonly window = new LogWindow();

  /** Which lines are in view, told by the view: what is around them is kept. */
  get view(): ILogView | null {
    return this._view;
  }

  setView(view: ILogView | null): void {
    const { _view: before } = this;
    if (before?.first !== view?.first || before?.last !== view?.last) {
      this._view = view;
      this._viewChanged.emit();
    }
  }

  /** Resolves when the streams are known. */
  readonly ready = new Promise<void>(resolve => {
    this._resolveReady = resolve;
  });

  /** All streams of the job; null before the first answer. */
  get streams(): readonly LogStream[] | null {
    return this._choice.streams;
  }

  get filter(): ILogFilter {
    return this._choice.filter;
  }

  /** The streams that the filter lets through. */
  get chosen(): readonly LogStream[] {
    return this._choice.chosen;
  }

  /** Whether the view stays at the end while lines come. */
  get following(): boolean {
    return this._following;
  }

  /** Whether the server's pushes arrive: the window is at the end and the socket is open. */
  get live(): boolean {
    return this._pushes.on;
  }

  get connected(): boolean {
    return this._connected;
  }

  /** A place is being loaded. */
  get loading(): boolean {
    return this._want !== null;
  }

  /** Lines that came since following stopped. */
  get newLines(): number {
    return this._newLines;
  }

  /** Why a request failed, in words. */
  get error(): string | null {
    return this._error;
  }

  /** Bytes of the chosen streams that are there, as far as known. */
  get size(): number {
    return this.chosen.reduce(
      (sum, { id, size, removed }) =>
        sum + Math.max(size, this.window.after[id] ?? 0) - removed,
      0
    );
  }

  /** Anything above changed; at most once a frame. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Other lines have come into view. */
  get viewChanged(): ISignal<this, void> {
    return this._viewChanged;
  }

  /** Lines that were written now, in each case before `changed`. */
  get added(): ISignal<this, readonly LogLine[]> {
    return this._added;
  }

  get revealed(): ISignal<this, ILogReveal> {
    return this._revealed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      cancelAnimationFrame(this._frame);
      this._session.dispose();
      Signal.clearData(this);
    }
  }

  /** Whether somebody looks; lines are not pushed to a log that is hidden. */
  setActive(active: boolean): void {
    if (active !== this._active) {
      this._active = active;
      this._attach();
    }
  }

  /** Show other streams, at the time that is in view now. */
  setFilter(filter: ILogFilter): void {
    const time = this.topTime();
    this._choice.filter = filter;
    this.go(
      this._following || time === null ? { at: 'end' } : { at: 'time', time }
    );
  }

  /** The time of the first line in view that has one. */
  topTime(): number | null {
    const index = Math.max(0, this._top - this.window.first);
    return (
      this.window.lines
        .slice(index, index + 100)
        .find(line => line.time !== null)?.time ?? null
    );
  }

  /** Stay at the end, or stop doing so. */
  setFollowing(following: boolean): void {
    if (!following) {
      this._following = false;
      this._changeSoon();
    } else if (this.window.atEnd) {
      this._following = true;
      this._newLines = 0;
      this.window.dropStart();
      this._changeSoon();
    } else {
      this.go({ at: 'end' });
    }
  }

  /** Go to a place. What is shown stays until its lines have come. */
  go(place: LogPlace): void {
    if (place.at === 'line' && this._reveal(place.stream, place.offset)) {
      this._want = null;
      return;
    }
    this._want = place;
    this._following = place.at === 'end';
    this._changeSoon();
    void this._open();
  }

  /** Go to a line and mark it, until somebody points elsewhere. */
  mark(stream: string, offset: number): void {
    this._marked = { stream, offset };
    this.go({ at: 'line', stream, offset });
  }

  /** Mark no line. */
  unmark(): void {
    if (this._marked) {
      this._marked = null;
      this._changeSoon();
    }
  }

  /** Whether a line is the marked one. */
  isMarked(line: LogLine): boolean {
    return this._marked !== null && holds(line, this._marked);
  }

  /** Load what lies before the window. */
  async loadBefore(): Promise<void> {
    if (!this.window.atStart) {
      await this._extend('backward', page => {
        this.window.prepend(page);
      });
    }
  }

  /** Load what lies behind the window. */
  async loadAfter(): Promise<void> {
    if (!this.window.atEnd) {
      await this._extend('forward', page => {
        this.window.append(page.lines, page.after);
        this.window.atEnd = page.at_end;
        this.window.dropStart();
      });
    }
  }

  /** Find lines of the chosen streams; of one asker, a new search ends the one that still runs. */
  search(
    asker: object,
    question: Omit<SearchLog, 'type' | 'request' | 'streams'>
  ): Promise<LogHits> {
    return this._session.search(asker, {
      streams: this._choice.ids,
      ...question
    });
  }

  private async _extend(
    direction: 'forward' | 'backward',
    take: (page: LogPage) => void
  ): Promise<void> {
    const edge = direction === 'forward' ? 'after' : 'before';
    const anchor = this.window[edge];
    if (this._extending.has(direction) || this._want || !this._connected) {
      return;
    }
    this._extending.add(direction);
    await this._attempt(async () => {
      const page = await this._reader.page(anchor, direction);
      // The window may have gone elsewhere, or been cut at this edge.
      if (this.window[edge] === anchor) {
        take(page);
        this._attach();
        this._changeSoon();
      }
    });
    this._extending.delete(direction);
  }

  /** Load the place that is wanted, until nothing is; one at a time, however fast they change. */
  private async _open(): Promise<void> {
    if (this._opening) {
      return;
    }
    this._opening = true;
    let going = true;
    while (going && this._want && this._connected && this.streams) {
      going = await this._load(this._want);
    }
    this._opening = false;
  }

  /** Returns false where that has to wait for lines to be written. */
  private async _load(want: LogPlace): Promise<boolean> {
    this._pushes.stop();
    if (want.at === 'line') {
      this._choice.show(want.stream);
    }
    if (this.chosen.length === 0) {
      this.window.clear();
      this._changeSoon();
      return false;
    }
    await this._attempt(async () => {
      const page = await this._reader.at(want);
      // A line is shown with what led to it.
      const earlier =
        want.at === 'line' && !page.at_start
          ? await this._reader.page(page.before, 'backward')
          : null;
      if (this._want !== want) {
        return;
      }
      this._want = null;
      this.window.reset(page);
      if (earlier) {
        this.window.prepend(earlier);
      }
      this._newLines = 0;
      this._attach();
      this._changeSoon();
      if (want.at === 'line') {
        this._reveal(want.stream, want.offset);
      } else if (want.at !== 'end') {
        this._revealed.emit({ ordinal: 0, align: 'start' });
      }
    });
    return true;
  }

  /** Do something that asks the server; if the connection ends meanwhile, the next one repeats it. */
  private async _attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
      this._error = null;
    } catch (error) {
      if (!(error instanceof LogConnectionLost)) {
        this._want = null;
        this._error = error instanceof Error ? error.message : String(error);
        this._changeSoon();
      }
    }
  }

  private _reveal(stream: string, offset: number): boolean {
    const ordinal = this.window.find(stream, offset);
    if (ordinal === null) {
      return false;
    }
    this._following = false;
    this._changeSoon();
    this._revealed.emit({ ordinal, align: 'center' });
    return true;
  }

  private get _top(): number {
    return this._view?.first ?? this.window.first;
  }

  private _onStreams(_: unknown, streams: LogStream[]): void {
    const before = this._choice.ids.join();
    const first = !this._connected;
    this._connected = true;
    this._choice.streams = streams;
    this._resolveReady();
    if (this._want) {
      void this._open();
    } else if (first || this._choice.ids.join() !== before) {
      this._pushes.stop();
      this._attach();
    }
    this._changeSoon();
  }

  private _onClosed(): void {
    this._connected = false;
    this._changeSoon();
  }

  /** Have the lines behind the window pushed, exactly while it ends where the log does. */
  private _attach(): void {
    const wanted =
      this._active && this._connected && !this._want && this.window.atEnd;
    if (wanted && !this._pushes.on) {
      this._behind = 0;
      this._pushes.start(this._choice.ids, this.window.after);
    } else if (!wanted) {
      this._pushes.stop();
    }
  }

  private _changeSoon(): void {
    if (!this._frame && !this._isDisposed) {
      this._frame = requestAnimationFrame(() => {
        this._frame = 0;
        this._onFrame();
      });
    }
  }

  private _onFrame(): void {
    const last = this._pushes.take(append => this._take(append));
    this._changed.emit();
    this._pushes.shown(last);
  }

  private _take(append: LogAppend): void {
    const added = this.window.append(append.lines, append.after);
    this._behind = append.caught_up ? 0 : this._behind + added;
    this._added.emit(append.lines);
    if (this._following) {
      this.window.dropStart();
      if (this._behind > TOO_FAR_BEHIND) {
        this.go({ at: 'end' });
      }
      return;
    }
    this._newLines += added;
    if (this._top - this.window.first > this.window.lines.length / 2) {
      this.window.dropStart();
    } else {
      this.window.dropEnd();
      this._attach();
    }
  }

  private readonly _reader: LogReader;
  private readonly _pushes: LogPushes;
  private readonly _choice: LogChoice;
  private _want: LogPlace | null = { at: 'end' };
  private _following = true;
  private _connected = false;
  private _active = true;
  private _opening = false;
  private _behind = 0;
  private _newLines = 0;
  private _error: string | null = null;
  private _marked: { stream: string; offset: number } | null = null;
  private readonly _extending = new Set<'forward' | 'backward'>();
  private _view: ILogView | null = null;
  private _frame = 0;
  private _isDisposed = false;
  private _resolveReady!: () => void;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _viewChanged = new Signal<this, void>(this);
  private readonly _added = new Signal<this, readonly LogLine[]>(this);
  private readonly _revealed = new Signal<this, ILogReveal>(this);
}
