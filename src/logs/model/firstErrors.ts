/** First error of each rank. */
import { ISignal, Signal } from '@lumino/signaling';
import { LogErrors, LogStream } from '../../api/types';
import { LogConnectionLost } from '../loading/session';
import { sourceKey, sourceLabel } from '../loading/streams';
import { LogModel } from './log';

/** First error of a rank, or of a container. */
export interface IRankError {
  /** See `sourceKey`. */
  readonly key: string;
  /** Number of the rank; empty for the launcher. */
  readonly label: string;
  readonly stream: string;
  readonly offset: number;
  /** Seconds since the epoch; null if unknown. */
  readonly time: number | null;
  readonly text: string;
}

/** Searches the shown streams for the first error of each rank. The server searches them part by part. */
export class FirstErrors {
  constructor(private readonly _log: LogModel) {}

  /** The errors that are known, earliest first. */
  get errors(): readonly IRankError[] {
    return this._errors;
  }

  /** Part of the log that was searched, from 0 to 1. */
  get progress(): number {
    return this._progress;
  }

  /** True while the search runs. */
  get pending(): boolean {
    return this._pending;
  }

  /** Error message if the search failed. */
  get error(): string | null {
    return this._error;
  }

  /** Emitted when any property changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Search the shown streams. A newer search replaces this one. */
  async find(): Promise<void> {
    this._pending = true;
    this._error = null;
    this._changed.emit();
    await this._search();
  }

  /** Search what was written since the last search, without a message about it. */
  async findMore(): Promise<void> {
    if (this._log.connected && this._log.size !== this._size) {
      await this._search();
    }
  }

  private async _search(): Promise<void> {
    const turn = ++this._turn;
    this._size = this._log.size;
    try {
      let answer: LogErrors;
      do {
        answer = await this._log.errors();
        if (turn !== this._turn) {
          return;
        }
        this._errors = firstOfRanks(answer, this._log.streams ?? []);
        this._progress = answer.size ? answer.searched / answer.size : 1;
        this._changed.emit();
      } while (!answer.complete);
    } catch (error) {
      if (turn === this._turn) {
        this._error =
          error instanceof LogConnectionLost ? '' : String(error).slice(0, 500);
      }
    }
    if (turn === this._turn) {
      this._pending = false;
      this._changed.emit();
    }
  }

  /** End the search. */
  cancel(): void {
    this._turn++;
    this._pending = false;
  }

  private _errors: readonly IRankError[] = [];
  private _progress = 0;
  /** Size of the log at the begin of the last search. */
  private _size = -1;
  private _pending = false;
  private _error: string | null = null;
  /** Number of the current search. An answer to an earlier search is ignored. */
  private _turn = 0;
  private readonly _changed = new Signal<this, void>(this);
}

/** Return the first error of each rank; a rank has several streams. */
export function firstOfRanks(
  { errors }: Pick<LogErrors, 'errors'>,
  streams: readonly LogStream[]
): IRankError[] {
  const known = new Map(streams.map(stream => [stream.id, stream]));
  const first = new Map<string, IRankError>();
  const order = (error: IRankError): number => error.time ?? Infinity;
  for (const { stream: id, offset, time, text } of errors) {
    const stream = known.get(id);
    if (stream) {
      const launcher = stream.source === 'launcher';
      const key = `${stream.source} ${sourceKey(stream)}`;
      const label = launcher ? '' : sourceLabel(stream);
      const error = { key, label, stream: id, offset, time, text };
      const other = first.get(key);
      if (!other || order(error) < order(other)) {
        first.set(key, error);
      }
    }
  }
  return [...first.values()].sort((a, b) => order(a) - order(b));
}
