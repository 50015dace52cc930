import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { NAMESPACE } from './client';

const FIRST_DELAY = 1000;
/** The longest delay while somebody looks at the page, and for how long they are taken to wait for it. */
const QUICK_DELAY = 3000;
const QUICK_TIME = 5 * 60_000;
const LONGEST_DELAY = 30_000;

/**
 * A WebSocket with JSON messages to one of our routes, which reconnects by itself.
 *
 * What was said before is not said again: send it on every `opened`.
 */
export class JsonSocket<Outgoing, Incoming> implements IDisposable {
  /**
   * @param path - Parts of the path below our namespace, not encoded.
   */
  constructor(settings: ServerConnection.ISettings, path: string[]) {
    this._settings = settings;
    this._path = path;
    window.addEventListener('online', this._onOnline);
    document.addEventListener('visibilitychange', this._onVisible);
    this._connect();
  }

  /** Whether messages can be sent now. */
  get isOpen(): boolean {
    return this._isOpen;
  }

  /** When the next attempt to connect will be made (milliseconds), if one is waiting. */
  get nextTry(): number | null {
    return this._nextTry;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The connection stands; emitted after every reconnection, too. */
  get opened(): ISignal<this, void> {
    return this._opened;
  }

  /** A connection ended, or an attempt at one failed; `nextTry` is set. */
  get closed(): ISignal<this, void> {
    return this._closed;
  }

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

  /** Send a message, if the connection stands; else it is dropped. */
  send(message: Outgoing): void {
    if (this._isOpen) {
      this._socket?.send(JSON.stringify(message));
    }
  }

  /** Connect now instead of at the next try. */
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

  /** Forget the socket and the waiting attempt, if there are any. */
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

  /** Jitter keeps a hundred tabs from coming back in the same moment. */
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
  /** When the connection was lost (milliseconds); null while it stands. */
  private _lostAt: number | null = null;
  private _nextTry: number | null = null;
  private _timer = 0;
  private _opened = new Signal<this, void>(this);
  private _closed = new Signal<this, void>(this);
  private _received = new Signal<this, Incoming>(this);
}
