/** Copy and download of a log's selected text. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError } from '../../api/errors';
import { ILogPassage, LogSelection } from './selection';
import { LogModel } from './log';
import {
  lineLabel,
  LogTextQuery,
  MOST_COPIED,
  passageQuery,
  removedText,
  shownLogText,
  streamQuery
} from './text';

/** Source of the log text that the page doesn't hold: the server. */
export interface ILogTexts {
  /** Resolve with the text; reject with an `ApiError` if the server refuses. */
  read(query: LogTextQuery): Promise<string>;
  /** Start a download of the text in the browser. */
  download(query: LogTextQuery): void;
}

/** Ways of writing text to the clipboard. */
export interface ILogClipboard {
  /** Write during a key or click event. Returns false if the browser refuses. */
  now(text: string): boolean;
  /** Write text that arrives after the event. Rejects if the browser refuses or doesn't support it. */
  later(text: Promise<string>): Promise<void>;
}

/** State of the copy that the user requested last. */
export type LogCopyState =
  | { readonly kind: 'idle' | 'reading' }
  | { readonly kind: 'copied'; readonly lines: number; readonly size: number }
  /** The text was read, but the browser requires another click to write it to the clipboard. */
  | { readonly kind: 'ready'; readonly lines: number; readonly text: string }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly hint: string | null;
      /** True if a URL that names all shown streams would be too long. */
      readonly tooManyStreams: boolean;
      /** Downloads the text as a file; null unless the text is too large to be copied. */
      readonly download: (() => void) | null;
    };

/** Copies a log's selected text: at once if the page holds the text, else after a request to the server. */
export class LogCopy implements IDisposable {
  constructor(
    private readonly _log: LogModel,
    private readonly _selection: LogSelection,
    private readonly _texts: ILogTexts,
    private readonly _clipboard: ILogClipboard
  ) {}

  get state(): LogCopyState {
    return this._state;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._turn++;
    Signal.clearData(this);
  }

  /**
   * Copy the selection.
   *
   * @param labels - True to put the rank and the time before each line.
   * @param put - Writes text that the page holds. A `copy` event of the browser passes a function that sets
   * the event's data.
   */
  async copy(
    labels: boolean,
    put: (text: string) => boolean = this._clipboard.now
  ): Promise<void> {
    const passage = this._selection.passage();
    if (!passage) {
      return;
    }
    const turn = ++this._turn;
    const local = this._localText(labels);
    if (local !== null) {
      this._done(local.text, local.lines, put(local.text));
      return;
    }
    this._set({ kind: 'reading' });
    let lines = 0;
    const reading = this._read(passage, labels).then(answer => {
      lines = answer.lines;
      return answer.text;
    });
    try {
      const written = await this._clipboard.later(reading).then(
        () => true,
        () => false
      );
      const text = await reading;
      if (turn === this._turn) {
        this._done(text, lines, written || this._clipboard.now(text));
      }
    } catch (error) {
      if (turn === this._turn) {
        this._fail(error, passage, labels);
      }
    }
  }

  /** Copy the text of the state `ready`. Call it during a click event. */
  finish(): void {
    if (this._state.kind === 'ready') {
      const { text, lines } = this._state;
      this._done(text, lines, this._clipboard.now(text));
    }
  }

  /**
   * Download lines of the shown streams as one file.
   *
   * @param passage - First and last line; by default the whole log.
   * @param labels - True to put the stream and the time before each line; by default if several streams are
   * shown.
   */
  download(
    passage: ILogPassage = { from: 'start', to: 'end' },
    labels = this._log.chosen.length > 1
  ): void {
    const query = this._query(passage, labels);
    if (query) {
      this._texts.download(query);
    } else {
      this._fail(new TooManyStreams(), passage, labels);
    }
  }

  /** Cancel a copy that is in progress and return to the state `idle`. */
  dismiss(): void {
    this._turn++;
    this._set({ kind: 'idle' });
  }

  /** Return the selected text if the page holds all of it, else null. */
  private _localText(labels: boolean): { text: string; lines: number } | null {
    const lines = this._selection.localLines();
    if (lines === null) {
      return null;
    }
    const streams = new Map(this._log.chosen.map(item => [item.id, item]));
    const text = lines
      .map(
        ({ line, text }) =>
          (labels ? lineLabel(streams.get(line.stream), line.time) : '') +
          (line.removed > 0 ? removedText(line) : text)
      )
      .join('\n');
    return { text, lines: lines.length };
  }

  /** Read the selected text from the server. */
  private async _read(
    passage: ILogPassage,
    labels: boolean
  ): Promise<{ text: string; lines: number }> {
    const query = this._query(passage, labels);
    if (!query) {
      throw new TooManyStreams();
    }
    const text = await this._texts.read({ ...query, limit: MOST_COPIED });
    const streams = new Map(this._log.chosen.map(item => [item.id, item]));
    return shownLogText(text, passage, labels ? streams : null);
  }

  /** Return the query for a passage of the shown streams; null if its URL would be too long. */
  private _query(passage: ILogPassage, labels: boolean): LogTextQuery | null {
    const { streams, chosen } = this._log;
    const which = streamQuery(streams ?? [], chosen);
    return (
      which && {
        ...which,
        ...passageQuery(passage),
        ...(this._log.filter.level && { level: this._log.filter.level }),
        ...(labels && { labels: true })
      }
    );
  }

  private _done(text: string, lines: number, written: boolean): void {
    this._set(
      written
        ? { kind: 'copied', lines: countOf(text, lines), size: text.length }
        : { kind: 'ready', lines, text }
    );
  }

  private _fail(error: unknown, passage: ILogPassage, labels: boolean): void {
    const tooLarge = error instanceof ApiError && error.status === 413;
    this._set({
      kind: 'failed',
      message: error instanceof Error ? error.message : String(error),
      hint: error instanceof ApiError ? error.hint : null,
      tooManyStreams: error instanceof TooManyStreams,
      download: tooLarge ? () => this.download(passage, labels) : null
    });
  }

  private _set(state: LogCopyState): void {
    this._state = state;
    this._changed.emit();
  }

  private _state: LogCopyState = { kind: 'idle' };
  /** Number of the current copy. An answer to an earlier copy is ignored. */
  private _turn = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

/** The URL of a request would be too long, because it lists the streams one by one. */
export class TooManyStreams extends Error {}

/** Return the number of copied lines. A last line of which no character is selected doesn't count. */
function countOf(text: string, lines: number): number {
  return text.endsWith('\n') ? lines - 1 : lines;
}
