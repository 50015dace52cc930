import { readFileSync, writeFileSync } from 'fs';
import { connect, createServer } from 'net';
import type { AddressInfo, Socket } from 'net';

/** A port that leads to the cluster of a kubeconfig while it is open; while it is shut no connection lives. */
export class Gate {
  /**
   * Make one; it is shut.
   *
   * @param kubeconfig - A file, beside which `kubeconfig` is made.
   */
  static async before(kubeconfig: string): Promise<Gate> {
    const gate = new Gate(kubeconfig);
    await new Promise<void>(resolve =>
      gate._server.listen(0, '127.0.0.1', resolve)
    );
    const { port } = gate._server.address() as AddressInfo;
    const text = readFileSync(kubeconfig, 'utf8');
    const server = /https:\/\/[^\s"]+/.exec(text)?.[0] ?? '';
    gate._target = new URL(server);
    writeFileSync(
      gate.kubeconfig,
      text.replaceAll(server, `https://${gate._target.hostname}:${port}`),
      { mode: 0o600 }
    );
    return gate;
  }

  private constructor(kubeconfig: string) {
    this.kubeconfig = `${kubeconfig}-gate`;
  }

  /** A file that leads through it. */
  readonly kubeconfig: string;

  open(): void {
    this._isOpen = true;
  }

  shut(): void {
    this._isOpen = false;
    this._sockets.forEach(socket => socket.destroy());
  }

  /** For good. */
  close(): void {
    this.shut();
    this._server.close();
  }

  private _connect(ours: Socket): void {
    if (!this._isOpen) {
      ours.destroy();
      return;
    }
    const { hostname, port } = this._target;
    const theirs = connect(Number(port || 443), hostname);
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours]
    ]) {
      this._sockets.add(one);
      one.pipe(other);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        this._sockets.delete(one);
        other.destroy();
      });
    }
  }

  private _isOpen = false;
  private _target!: URL;
  private readonly _sockets = new Set<Socket>();
  private readonly _server = createServer(socket => this._connect(socket));
}
