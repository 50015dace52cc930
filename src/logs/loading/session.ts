/** Requests and answers over the WebSocket of a job's logs. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import {
  LogAppend,
  LogErrors,
  LogHits,
  LogMessage,
  LogPage,
  LogRequest,
  LogStream,
  ReadLog,
  SearchLog
} from '../../api/types';
import { LowestLevel } from './streams';
import { Cursor } from './window';
import { sentences } from '../../common/format';

/** The part of `JsonSocket` that a session uses. */
export interface ILogSocket extends IDisposable {
  readonly isOpen: boolean;
  readonly opened: ISignal<unknown, void>;
  readonly closed: ISignal<unknown, void>;
  readonly received: ISignal<unknown, LogMessage>;
  send(message: LogRequest): void;
}

/** The connection closed before the answer arrived. */
export class LogConnectionLost extends Error {}

/** A newer search replaced this search before its answer arrived. */
export class LogSearchReplaced extends Error {}

/** The server answered a request with an error; the message contains its hint. */
export class LogRequestError extends Error {
  constructor(message: string, hint: string | null) {
    super(sentences([message, hint]));
  }
}

/** Callbacks of a request that has no answer yet. */
interface IPending {
  resolve(answer: LogPage | LogHits | LogErrors): void;
  reject(error: Error): void;
}

/** Sends requests over a job's log socket and assigns the answers to them. */
export class LogSession implements IDisposable {
  constructor(private readonly _socket: ILogSocket) {
    _socket.received.connect(this._onMessage, this);
    _socket.closed.connect(this._onClosed, this);
  }

  get isOpen(): boolean {
    return this._socket.isOpen;
  }

  get isDisposed(): boolean {
    return this._socket.isDisposed;
  }

  /** Emitted when the connection closes. */
  get closed(): ISignal<this, void> {
    return this._closed;
  }

  /** Emits the job's streams: first after each connection, then after every change. */
  get streams(): ISignal<this, LogStream[]> {
    return this._streams;
  }

  /** Emits new lines of the followed streams. */
  get appended(): ISignal<this, LogAppend> {
    return this._appended;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._socket.dispose();
      this._onClosed();
      Signal.clearData(this);
    }
  }

  /** Read one page of lines. */
  read(question: Omit<ReadLog, 'type' | 'request'>): Promise<LogPage> {
    return this._ask(request => ({ type: 'read', request, ...question }));
  }

  /** Search a part of the streams for the first error of each. The next request continues the search. */
  errors(streams: string[]): Promise<LogErrors> {
    return this._ask(request => ({ type: 'errors', request, streams }));
  }

  /**
   * Find the lines that match.
   *
   * The server runs one search at a time. A new search of the same asker ends the asker's running search,
   * which rejects with `LogSearchReplaced`; searches of different askers wait for each other.
   *
   * @param asker - Object that identifies who searches.
   * @param question - The pattern and its options.
   */
  async search(
    asker: object,
    question: Omit<SearchLog, 'type' | 'request'>
  ): Promise<LogHits> {
    while (this._searching && this._searching.asker !== asker) {
      await this._searching.done;
    }
    this._take(this._searching?.request ?? null)?.reject(
      new LogSearchReplaced()
    );
    const request = this._next;
    const answer = this._ask<LogHits>(number => ({
      type: 'search',
      request: number,
      ...question
    }));
    const end = (): void => {
      if (this._searching?.request === request) {
        this._searching = null;
      }
    };
    this._searching = { asker, request, done: answer.then(end, end) };
    return answer;
  }

  /**
   * Ask the server to push lines as they are written.
   *
   * @param streams - Ids of the streams.
   * @param cursor - Offsets at which the pushed lines begin.
   * @param level - Lowest level of the lines; null for all lines.
   */
  follow(streams: string[], cursor: Cursor, level: LowestLevel | null): void {
    this._socket.send({ type: 'follow', streams, cursor, level });
  }

  /** Ask the server to stop pushing lines. */
  unfollow(): void {
    this._socket.send({ type: 'unfollow' });
  }

  /** Acknowledge an append message that is on the screen, so that the server sends more lines. */
  ack(sequence: number): void {
    this._socket.send({ type: 'ack', sequence });
  }

  /**
   * Send a request and return its answer.
   *
   * @param message - Returns the request with the given number.
   */
  private _ask<T extends LogPage | LogHits | LogErrors>(
    message: (request: number) => LogRequest
  ): Promise<T> {
    if (!this.isOpen) {
      return Promise.reject(new LogConnectionLost());
    }
    const request = this._next++;
    return new Promise<T>((resolve, reject) => {
      this._pending.set(request, {
        resolve: resolve as IPending['resolve'],
        reject
      });
      this._socket.send(message(request));
    });
  }

  private _onMessage(_: unknown, message: LogMessage): void {
    switch (message.type) {
      case 'streams':
        this._streams.emit(message.streams);
        break;
      case 'append':
        this._appended.emit(message);
        break;
      case 'page':
      case 'hits':
      case 'first_errors':
        this._take(message.request)?.resolve(message);
        break;
      case 'error':
        this._take(message.request)?.reject(
          new LogRequestError(message.message, message.hint)
        );
    }
  }

  /** Remove and return a pending request. */
  private _take(request: number | null): IPending | undefined {
    const pending = this._pending.get(request ?? -1);
    this._pending.delete(request ?? -1);
    return pending;
  }

  private _onClosed(): void {
    const pending = [...this._pending.values()];
    this._pending.clear();
    pending.forEach(({ reject }) => reject(new LogConnectionLost()));
    this._closed.emit();
  }

  private _next = 1;
  /** The running search. */
  private _searching: {
    asker: object;
    request: number;
    done: Promise<void>;
  } | null = null;
  private readonly _pending = new Map<number, IPending>();
  private readonly _closed = new Signal<this, void>(this);
  private readonly _streams = new Signal<this, LogStream[]>(this);
  private readonly _appended = new Signal<this, LogAppend>(this);
}
