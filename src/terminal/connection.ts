/** Connection of a terminal to a shell in a job, as JupyterLab's terminal widget uses it. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection, Terminal } from '@jupyterlab/services';
import { ISignal, Signal } from '@lumino/signaling';
import { NAMESPACE } from '../api/http';
import { TerminalEnd, TerminalInput, TerminalOutput } from '../api/types';

/** Replica of a job, or one of its ranks. */
export interface IShellPlace {
  /** Id of the job. */
  id: string;
  replica: string;
  /** Global rank; null for the replica itself. */
  rank: number | null;
}

/** Time after which output counts as shown, in ms: the terminal draws once per frame. A hidden page is slower. */
const SHOWN_AFTER = 16;
/** Largest number of characters of input in one message; the server accepts more bytes than that. */
const INPUT_CHUNK = 32 * 1024;
const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/**
 * A WebSocket whose shell ends with it. It never reconnects: a new shell would not be the one that the user left.
 */
export class ShellConnection implements Terminal.ITerminalConnection {
  constructor(
    readonly serverSettings: ServerConnection.ISettings,
    place: IShellPlace
  ) {
    const { id, replica, rank } = place;
    this.name = rank === null ? replica : `${replica}:${rank}`;
    this.model = { name: this.name };
    const { WebSocket, wsUrl, appendToken, token } = serverSettings;
    const path = ['jobs', id, 'terminal'].map(encodeURIComponent);
    const query = URLExt.objectToQueryString({
      replica,
      ...(rank === null ? {} : { rank }),
      acks: 'true',
      ...(appendToken && token !== '' ? { token } : {})
    });
    this._socket = new WebSocket(
      URLExt.join(wsUrl, NAMESPACE, ...path) + query
    );
    this._socket.onmessage = ({ data }) =>
      this._receive(JSON.parse(data) as TerminalOutput);
    this._socket.onclose = () => this._close();
  }

  readonly name: string;
  readonly model: Terminal.IModel;

  /** Why the shell has ended; null while it runs, and if the connection was lost. */
  get end(): TerminalEnd | null {
    return this._end;
  }

  get connectionStatus(): Terminal.ConnectionStatus {
    return this._status;
  }

  get connectionStatusChanged(): ISignal<this, Terminal.ConnectionStatus> {
    return this._statusChanged;
  }

  get messageReceived(): ISignal<this, Terminal.IMessage> {
    return this._messageReceived;
  }

  get disposed(): ISignal<this, void> {
    return this._disposed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._socket.onclose = this._socket.onmessage = null;
      this._socket.close();
      this._disposed.emit();
      Signal.clearData(this);
    }
  }

  /** Send keys or the terminal's size; input for a shell that has ended is dropped. */
  send({ type, content = [] }: Terminal.IMessage): void {
    if (type === 'set_size') {
      this._size = [Number(content[0]), Number(content[1])];
      this._post(['set_size', ...this._size]);
    } else if (type === 'stdin') {
      const text = String(content[0] ?? '');
      let at = 0;
      while (at < text.length) {
        const end = at + INPUT_CHUNK;
        // half of a surrogate pair is no text
        const next = HIGH_SURROGATE.test(text[end - 1] ?? '') ? end - 1 : end;
        this._post(['stdin', text.slice(at, next)]);
        at = next;
      }
    }
  }

  /** Do nothing: a shell that has ended can't be reached again. */
  async reconnect(): Promise<void> {}

  /** End the shell. */
  async shutdown(): Promise<void> {
    this.dispose();
  }

  private _post(message: TerminalInput): void {
    if (this._status === 'connected') {
      this._socket.send(JSON.stringify(message));
    }
  }

  private _receive(message: TerminalOutput): void {
    const [type, content] = message;
    if (type === 'setup') {
      this._setStatus('connected');
      if (this._size) {
        this._post(['set_size', ...this._size]);
      }
    } else if (type === 'stdout') {
      this._messageReceived.emit({ type, content: [content] });
      // The server holds the shell up until its output was shown, so that the page's memory stays bounded.
      window.setTimeout(() => this._post(['ack', content.length]), SHOWN_AFTER);
    } else if (type === 'ended') {
      this._end = content;
    }
  }

  private _close(): void {
    this._setStatus('disconnected');
  }

  private _setStatus(status: Terminal.ConnectionStatus): void {
    this._status = status;
    this._statusChanged.emit(status);
  }

  private readonly _socket: WebSocket;
  private _status: Terminal.ConnectionStatus = 'connecting';
  private _end: TerminalEnd | null = null;
  private _size: [number, number] | null = null;
  private _isDisposed = false;
  private _statusChanged = new Signal<this, Terminal.ConnectionStatus>(this);
  private _messageReceived = new Signal<this, Terminal.IMessage>(this);
  private _disposed = new Signal<this, void>(this);
}
