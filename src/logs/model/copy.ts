import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError } from '../../api/client';
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

/** Where the text of lines comes from that the page does not hold. */
export interface ILogTexts {
  read(query: LogTextQuery): Promise<string>;
  download(query: LogTextQuery): void;
}

/** The ways into the clipboard. */
export interface ILogClipboard {
  /** Within the handling of a key or a click; false where the browser refuses. */
  now(text: string): boolean;
  /** A text that comes later; rejects where the browser refuses, or has no such way. */
  later(text: Promise<string>): Promise<void>;
}

/** How far copying has come. */
export type LogCopyState =
  | { readonly kind: 'idle' | 'reading' }
  | { readonly kind: 'copied'; readonly lines: number; readonly size: number }
  /** The text is here, and the browser wants a click for it. */
  | { readonly kind: 'ready'; readonly lines: number; readonly text: string }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly hint: string | null;
      /** No address could name the streams that are shown. */
      readonly tooManyStreams: boolean;
      /** Downloads instead; null where that would not help. */
      readonly download: (() => void) | null;
    };

/** Copies what is selected of a log: at once where the page holds it, else from the server. */
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
   * @param labels - With ranks and times.
   * @param put - Puts a text that is known at once, where the browser asked for one itself.
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

  /** Copy the text that waits for a click. */
  finish(): void {
    if (this._state.kind === 'ready') {
      const { text, lines } = this._state;
      this._done(text, lines, this._clipboard.now(text));
    }
  }

  /** Download what the filter lets through as one file, with streams and times where there are several. */
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

  /** Say nothing about copying any more, and stop it. */
  dismiss(): void {
    this._turn++;
    this._set({ kind: 'idle' });
  }

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

  private _query(passage: ILogPassage, labels: boolean): LogTextQuery | null {
    const { streams, chosen } = this._log;
    const which = streamQuery(streams ?? [], chosen);
    return (
      which && {
        ...which,
        ...passageQuery(passage),
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
  private _turn = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

/** So many streams are chosen one by one that no address can name them. */
export class TooManyStreams extends Error {}

/** A selection that ends before a line's first character has nothing of that line. */
function countOf(text: string, lines: number): number {
  return text.endsWith('\n') ? lines - 1 : lines;
}
