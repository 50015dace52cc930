/** Notices about jobs that arrive while the page is open. */
import { Notice } from '../api/types';

/** Passes each notice on once. After a reconnection the server sends the last notices again. */
export class Notices {
  /** @param _onNoticed - Called for each notice about an event after the page was opened. */
  constructor(private readonly _onNoticed: (notice: Notice) => void) {}

  /** Take the notices of a message of the server. */
  take({ time, notices }: { time: number; notices?: Notice[] }): void {
    this._begun ??= time;
    for (const notice of notices ?? []) {
      if (!this._known.has(notice.id) && notice.time >= this._begun) {
        this._known.add(notice.id);
        this._onNoticed(notice);
      }
    }
  }

  private _begun: number | null = null;
  private readonly _known = new Set<string>();
}
