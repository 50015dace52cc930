import { LogAppend } from '../../api/types';
import { LogSession } from './session';
import { Cursor } from './window';

/** Milliseconds of a frame in which lines are taken in. */
const LONGEST = 6;

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

  /**
   * Take what came since the last time, a message at a time; call `shown` when it is on the page.
   *
   * Pushes that take longer than a part of a frame wait for the next one, so that the page stays responsive.
   *
   * @param take - Does the work for a message. It may stop the pushes, which drops those that wait.
   * @returns The last message that was taken.
   */
  take(take: (append: LogAppend) => void): LogAppend | null {
    const end = performance.now() + LONGEST;
    let last: LogAppend | null = null;
    while (this._waiting.length > 0 && (!last || performance.now() < end)) {
      [last] = this._waiting.splice(0, 1);
      take(last);
    }
    if (this._waiting.length > 0) {
      this._arrived();
    }
    return last;
  }

  /** Let the server send more than it has sent before this message was shown. */
  shown(append: LogAppend | null): void {
    if (this._on && append) {
      this._session.ack(append.sequence);
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
