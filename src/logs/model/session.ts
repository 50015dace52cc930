import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import {
  LogAppend,
  LogHits,
  LogMessage,
  LogPage,
  LogRequest,
  LogStream,
  ReadLog,
  SearchLog
} from '../../api/types';
import { Cursor } from './window';

/** What a session needs of its socket; `JsonSocket` has it. */
export interface ILogSocket extends IDisposable {
  readonly isOpen: boolean;
  readonly opened: ISignal<unknown, void>;
  readonly closed: ISignal<unknown, void>;
  readonly received: ISignal<unknown, LogMessage>;
  send(message: LogRequest): void;
}

/** The connection ended before the answer came. */
export class LogConnectionLost extends Error {}

/** Something else was searched for before the answer came. */
export class LogSearchReplaced extends Error {}

/** The server could not answer a request: why, and what to do. */
export class LogRequestError extends Error {
  constructor(message: string, hint: string | null) {
    super([message, hint].filter(Boolean).join(' '));
  }
}

interface IPending {
  resolve(answer: LogPage | LogHits): void;
  reject(error: Error): void;
}

/** Questions and answers over a job's log socket. */
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

  get closed(): ISignal<this, void> {
    return this._closed;
  }

  /** The streams that exist: first thing after a connection, then whenever that changes. */
  get streams(): ISignal<this, LogStream[]> {
    return this._streams;
  }

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

  /** One page of lines. */
  read(question: Omit<ReadLog, 'type' | 'request'>): Promise<LogPage> {
    return this._ask(request => ({ type: 'read', request, ...question }));
  }

  /**
   * The lines that match. The server does one search at a time: of one asker, a new one ends the
   * one that still runs; different askers wait for each other.
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

  follow(streams: string[], cursor: Cursor): void {
    this._socket.send({ type: 'follow', streams, cursor });
  }

  unfollow(): void {
    this._socket.send({ type: 'unfollow' });
  }

  /** Tell that lines have been shown, so that more are sent. */
  ack(sequence: number): void {
    this._socket.send({ type: 'ack', sequence });
  }

  private _ask<T extends LogPage | LogHits>(
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
        this._take(message.request)?.resolve(message);
        break;
      case 'error':
        this._take(message.request)?.reject(
          new LogRequestError(message.message, message.hint)
        );
    }
  }

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
