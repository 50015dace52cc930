import { LogAppend } from '../api/types';
import { LogSession } from './logSession';
import { Cursor } from './logWindow';

/** The lines that the server pushes as they are written, gathered until the next frame shows them. */
export class LogPushes {
  /** @param _arrived - Told that there is something to take. */
  constructor(
    private readonly _session: LogSession,
    private readonly _arrived: () => void
  ) {
    _session.appended.connect(this._onAppended, this);
    _session.closed.connect(this._end, this);
  }

  /** Whether lines are pushed. */
  get on(): boolean {
    return this._on;
  }

  /** Have lines pushed from a place on. */
  start(streams: string[], cursor: Cursor): void {
    this._on = true;
    this._session.follow(streams, cursor);
  }

  stop(): void {
    if (this._on) {
      this._end();
      this._session.unfollow();
    }
  }

  /** What came since the last time; whoever takes it calls `shown` when it is on the page. */
  take(): readonly LogAppend[] {
    const waiting = this._waiting;
    this._waiting = [];
    return waiting;
  }

  /** Let the server send more. */
  shown(appends: readonly LogAppend[]): void {
    const last = appends[appends.length - 1];
    if (this._on && last) {
      this._session.ack(last.sequence);
    }
  }

  private _end(): void {
    this._on = false;
    this._waiting = [];
  }

  private _onAppended(_: unknown, append: LogAppend): void {
    if (this._on) {
      this._waiting.push(append);
      this._arrived();
    }
  }

  private _on = false;
  private _waiting: LogAppend[] = [];
}
