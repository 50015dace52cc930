/** WebSocket that reconnects automatically. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { NAMESPACE } from './http';

/** The maximum delay before the first attempt to reconnect, in ms; it doubles with every failure. */
const FIRST_DELAY = 1000;
/**
 * The maximum delay, in ms, while the page is visible; used only for `QUICK_TIME` ms after the connection was lost.
 */
const QUICK_DELAY = 3000;
const QUICK_TIME = 5 * 60_000;
/** The maximum delay, in ms, in a hidden page or after `QUICK_TIME`. */
const LONGEST_DELAY = 30_000;

/**
 * A WebSocket with JSON messages to a route of this extension, which reconnects automatically.
 *
 * After a reconnection, earlier messages are not sent again. Send subscriptions on every `opened`.
 */
export class JsonSocket<Outgoing, Incoming> implements IDisposable {
  /**
   * Connect to a route.
   *
   * @param settings - URLs and token of the server.
   * @param path - Components of the path below the API's path, not encoded.
   * @param begin - Connect when this promise resolves; at once by default.
   */
  constructor(
    settings: ServerConnection.ISettings,
    path: string[],
    begin?: Promise<void>
  ) {
    this._settings = settings;
    this._path = path;
    window.addEventListener('online', this._onOnline);
    document.addEventListener('visibilitychange', this._onVisible);
    if (begin) {
      void begin.then(() => {
        // The browser may have come back online before, which connects too.
        if (!this._socket) {
          this.reconnect();
        }
      });
    } else {
      this._connect();
    }
  }

  /** True if the connection is open. */
  get isOpen(): boolean {
    return this._isOpen;
  }

  /** Time of the next attempt to connect, in ms since the epoch; null if none is scheduled. */
  get nextTry(): number | null {
    return this._nextTry;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Emitted when the connection is opened, also after a reconnection. */
  get opened(): ISignal<this, void> {
    return this._opened;
  }

  /** Emitted when the connection is closed or an attempt to connect has failed; `nextTry` is set. */
  get closed(): ISignal<this, void> {
    return this._closed;
  }

  /** Emitted for every message of the server. */
  get received(): ISignal<this, Incoming> {
    return this._received;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.removeEventListener('online', this._onOnline);
    document.removeEventListener('visibilitychange', this._onVisible);
    this._drop();
    Signal.clearData(this);
  }

  /** Send a message if the connection is open; discard it otherwise. */
  send(message: Outgoing): void {
    if (this._isOpen) {
      this._socket?.send(JSON.stringify(message));
    }
  }

  /** Connect now instead of at the next scheduled attempt. */
  reconnect(): void {
    if (!this._isOpen && !this._isDisposed) {
      this._connect();
    }
  }

  private _connect(): void {
    this._drop();
    const { WebSocket, wsUrl, appendToken, token } = this._settings;
    let url = URLExt.join(
      wsUrl,
      NAMESPACE,
      ...this._path.map(encodeURIComponent)
    );
    if (appendToken && token !== '') {
      url += `?token=${encodeURIComponent(token)}`;
    }
    const socket = (this._socket = new WebSocket(url));
    socket.onopen = () => {
      this._isOpen = true;
      this._failures = 0;
      this._lostAt = null;
      this._opened.emit();
    };
    socket.onmessage = event => {
      this._received.emit(JSON.parse(event.data) as Incoming);
    };
    socket.onclose = () => {
      this._drop();
      this._wait();
      this._closed.emit();
    };
  }

  /** Close the socket, and cancel the scheduled attempt. */
  private _drop(): void {
    window.clearTimeout(this._timer);
    this._nextTry = null;
    this._isOpen = false;
    const socket = this._socket;
    this._socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  /** Schedule the next attempt to connect. Jitter keeps a hundred tabs from reconnecting at once. */
  private _wait(): void {
    this._lostAt ??= Date.now();
    const awaited =
      document.visibilityState !== 'hidden' &&
      Date.now() - this._lostAt < QUICK_TIME;
    const longest = Math.min(
      FIRST_DELAY * 2 ** this._failures,
      awaited ? QUICK_DELAY : LONGEST_DELAY
    );
    const delay = Math.round(longest * (0.5 + Math.random() / 2));
    this._failures += 1;
    this._nextTry = Date.now() + delay;
    this._timer = window.setTimeout(() => this._connect(), delay);
  }

  private _onOnline = (): void => this.reconnect();

  private _onVisible = (): void => {
    if (document.visibilityState !== 'hidden' && this._nextTry !== null) {
      this.reconnect();
    }
  };

  private readonly _settings: ServerConnection.ISettings;
  private readonly _path: string[];
  private _socket: WebSocket | null = null;
  private _isOpen = false;
  private _isDisposed = false;
  private _failures = 0;
  /** Time at which the connection was lost, in ms since the epoch; null while it is open. */
  private _lostAt: number | null = null;
  private _nextTry: number | null = null;
  private _timer = 0;
  private _opened = new Signal<this, void>(this);
  private _closed = new Signal<this, void>(this);
  private _received = new Signal<this, Incoming>(this);
}
