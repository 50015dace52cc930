/** Queue of the lines that the server pushes. */
import { LogAppend } from '../../api/types';
import { LogSession } from './session';
import { LowestLevel } from './streams';
import { Cursor } from './window';

/** Time in which queued messages are processed in one frame, in ms. */
const LONGEST = 6;

/** Queues the lines that the server pushes until the next animation frame shows them. */
export class LogPushes {
  /**
   * @param _session - The connection.
   * @param _arrived - Called when messages wait in the queue.
   */
  constructor(
    private readonly _session: LogSession,
    private readonly _arrived: () => void
  ) {
    _session.appended.connect(this._onAppended, this);
    _session.closed.connect(this._end, this);
  }

  /** True while the server pushes lines. */
  get on(): boolean {
    return this._on;
  }

  /**
   * Ask the server to push lines.
   *
   * @param streams - Ids of the streams.
   * @param cursor - Offsets at which the pushed lines begin.
   * @param level - Lowest level of the lines; null for all lines.
   */
  start(streams: string[], cursor: Cursor, level: LowestLevel | null): void {
    this._on = true;
    this._session.follow(streams, cursor, level);
  }

  /** Stop the pushes and drop the queued messages. */
  stop(): void {
    if (this._on) {
      this._end();
      this._session.unfollow();
    }
  }

  /**
   * Process the queued messages, for at most a part of a frame; the rest waits for the next frame so that the
   * page stays responsive. Call `shown` when the processed messages are on the screen.
   *
   * @param take - Processes a message. It may call `stop`, which drops the remaining messages.
   * @returns The last processed message.
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

  /** Acknowledge the message that is on the screen, so that the server sends more. */
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
