/** A job's log: window of lines, following, filter and search. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import {
  LogAppend,
  LogErrors,
  LogHits,
  LogLine,
  LogPage,
  LogStream,
  SearchLog
} from '../../api/types';
import { LogPushes } from '../loading/pushes';
import { LogPlace, LogReader } from '../loading/reader';
import { LogDirection, LogLoader } from '../loading/loader';
import { LogSession } from '../loading/session';
import { ILogFilter, LogChoice, SHOW_ALL } from '../loading/streams';
import { holds, LogWindow } from '../loading/window';
import { ILogReveal, ILogView } from './place';

/** Following jumps to the end of the log after this number of lines without reaching the end. */
const TOO_FAR_BEHIND = 5000;

/**
 * A job's log as a view shows it: a window of lines around the view, which follows the end of the log on
 * request. The number of lines in memory is bounded, however long the log is.
 */
export class LogModel implements IDisposable {
  constructor(
    private readonly _session: LogSession,
    filter: ILogFilter = SHOW_ALL
  ) {
    this._choice = new LogChoice(filter);
    this._loader = new LogLoader(new LogReader(_session, this._choice), {
      canLoad: () => this._connected && this.streams !== null,
      prepare: place => this._prepare(place),
      show: (place, page, earlier) => this._show(place, page, earlier),
      changed: () => this._changeSoon()
    });
    _session.streams.connect(this._onStreams, this);
    this._pushes = new LogPushes(_session, () => this._changeSoon());
    _session.closed.connect(this._onClosed, this);
  }

  readonly window = new LogWindow();
  /** The marked line; null for none. */
  marked: { stream: string; offset: number } | null = null;

  /** The lines in view; the window keeps the lines around them. Null while there is no view. */
  get view(): ILogView | null {
    return this._view;
  }

  /** Set the lines in view. */
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

  /** All streams of the job; null before the server has sent them. */
  get streams(): readonly LogStream[] | null {
    return this._choice.streams;
  }

  get filter(): ILogFilter {
    return this._choice.filter;
  }

  /** The streams that pass the filter. */
  get chosen(): readonly LogStream[] {
    return this._choice.chosen;
  }

  /** True if the view stays at the end of the log when lines arrive. */
  get following(): boolean {
    return this._following;
  }

  /** True while the server pushes new lines: the window is at the end of the log and the socket is open. */
  get live(): boolean {
    return this._pushes.on;
  }

  get connected(): boolean {
    return this._connected;
  }

  /** True while a place is loaded. */
  get loading(): boolean {
    return this._loader.place !== null;
  }

  /** Number of lines that arrived since following stopped. */
  get newLines(): number {
    return this._newLines;
  }

  /** Error message of the last request; null if it succeeded. */
  get error(): string | null {
    return this._loader.error;
  }

  /** Size of the shown streams in bytes, without removed bytes. */
  get size(): number {
    return this.chosen.reduce(
      (sum, { id, size, removed }) =>
        sum + Math.max(size, this.window.after[id] ?? 0) - removed,
      0
    );
  }

  /** Emitted when any property above changed, at most once per frame. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted when other lines came into view. */
  get viewChanged(): ISignal<this, void> {
    return this._viewChanged;
  }

  /** Emits new lines, before `changed`. */
  get added(): ISignal<this, readonly LogLine[]> {
    return this._added;
  }

  /** Emits lines to scroll into view. */
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

  /** Tell the log if its view is visible. A hidden log receives no lines. */
  setActive(active: boolean): void {
    if (active !== this._active) {
      this._active = active;
      this._attach();
    }
  }

  /** Show other streams, at the time that is in view. */
  setFilter(filter: ILogFilter): void {
    const time = this.topTime();
    this._choice.filter = filter;
    this.go(
      this._following || time === null ? { at: 'end' } : { at: 'time', time }
    );
  }

  /** Return the time of the first line in view that has a time. */
  topTime(): number | null {
    return this.window.timeFrom(this._view?.first ?? this.window.first);
  }

  /** Start or stop following the end of the log. */
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

  /** Go to a place. The view keeps the current lines until the new lines have arrived. */
  go(place: LogPlace): void {
    // While a place is loaded, the window may have the lines of an earlier filter.
    if (!this.loading && place.at === 'line' && this._reveal(place)) {
      return;
    }
    this._following = place.at === 'end';
    this._loader.go(place);
  }

  /** Go to a line and mark it until `unmark` or the next mark. */
  mark(stream: string, offset: number): void {
    this.marked = { stream, offset };
    this.go({ at: 'line', stream, offset });
  }

  unmark(): void {
    if (this.marked) {
      this.marked = null;
      this._changeSoon();
    }
  }

  isMarked(line: LogLine): boolean {
    return this.marked !== null && holds(line, this.marked);
  }

  /** Load the page before the window. */
  async loadBefore(): Promise<void> {
    if (!this.window.atStart) {
      await this._extend('backward', page => {
        this.window.prepend(page);
      });
    }
  }

  /** Load the page after the window. */
  async loadAfter(): Promise<void> {
    if (!this.window.atEnd) {
      await this._extend('forward', page => {
        this.window.append(page.lines, page.after);
        this.window.atEnd = page.at_end;
        this.window.dropStart();
      });
    }
  }

  /** Find lines of the shown streams; see `LogSession.search`. */
  search(
    asker: object,
    question: Omit<SearchLog, 'type' | 'request' | 'streams'>
  ): Promise<LogHits> {
    return this._session.search(asker, {
      streams: this._choice.ids,
      level: this.filter.level ?? null,
      ...question
    });
  }

  /** Search a part of the shown streams for the first error of each; see `LogSession.errors`. */
  errors(): Promise<LogErrors> {
    return this._session.errors(this._choice.ids);
  }

  private _prepare(place: LogPlace): boolean {
    this._pushes.stop();
    if (place.at === 'line') {
      this._choice.show(place.stream);
    }
    if (this.chosen.length > 0) {
      return true;
    }
    this.window.clear();
    this._changeSoon();
    return false;
  }

  private _show(place: LogPlace, page: LogPage, earlier: LogPage | null): void {
    this.window.reset(page);
    if (earlier) {
      this.window.prepend(earlier);
    }
    this._newLines = 0;
    this._attach();
    this._changeSoon();
    if (place.at === 'line') {
      if (!this._reveal(place) && this.filter.level) {
        this._choice.filter = { ...this.filter, level: null };
        this._loader.go(place);
      }
    } else if (place.at !== 'end') {
      this._revealed.emit({ ordinal: 0, align: 'start' });
    }
  }

  private async _extend(
    direction: LogDirection,
    take: (page: LogPage) => void
  ): Promise<void> {
    const edge = direction === 'forward' ? 'after' : 'before';
    const anchor = this.window[edge];
    await this._loader.extend(direction, anchor, page => {
      // Another load may have changed this edge.
      if (this.window[edge] === anchor) {
        take(page);
        this._attach();
        this._changeSoon();
      }
    });
  }

  private _reveal(line: Pick<LogLine, 'stream' | 'offset'>): boolean {
    const ordinal = this.window.find(line.stream, line.offset);
    if (ordinal === null) {
      return false;
    }
    this._following = false;
    this._changeSoon();
    this._revealed.emit({ ordinal, align: 'center' });
    return true;
  }

  private _onStreams(_: unknown, streams: LogStream[]): void {
    const before = this._choice.ids.join();
    const first = !this._connected;
    this._connected = true;
    this._choice.streams = streams;
    this._resolveReady();
    if (this.loading) {
      void this._loader.resume();
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

  /** Ask for pushes if the window ends at the end of the log, else stop them. */
  private _attach(): void {
    const wanted =
      this._active && this._connected && !this.loading && this.window.atEnd;
    if (wanted && !this._pushes.on) {
      this._behind = 0;
      const { ids, filter } = this._choice;
      this._pushes.start(ids, this.window.after, filter.level ?? null);
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
    const { first, lines } = this.window;
    if ((this._view?.first ?? first) - first > lines.length / 2) {
      this.window.dropStart();
    } else {
      this.window.dropEnd();
      this._attach();
    }
  }

  private readonly _loader: LogLoader;
  private readonly _pushes: LogPushes;
  private readonly _choice: LogChoice;
  private _following = true;
  private _connected = false;
  private _active = true;
  /** Number of lines since the pushes began or last caught up with the log's end. */
  private _behind = 0;
  private _newLines = 0;
  private _view: ILogView | null = null;
  private _frame = 0;
  private _isDisposed = false;
  private _resolveReady!: () => void;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _viewChanged = new Signal<this, void>(this);
  private readonly _added = new Signal<this, readonly LogLine[]>(this);
  private readonly _revealed = new Signal<this, ILogReveal>(this);
}
