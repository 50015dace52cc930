/** Loading of a log's places and neighbouring pages. */
import { LogPage } from '../../api/types';
import { LogPlace, LogReader } from './reader';
import { LogConnectionLost } from './session';

/** Direction from an edge of the window. */
export type LogDirection = 'forward' | 'backward';

/** The log for which a loader reads pages. */
export interface ILoaderHost {
  /** Return true if pages can be requested: the connection is open and the streams are known. */
  canLoad(): boolean;
  /** Select the streams for a place. Returns false if these streams have no lines. */
  prepare(place: LogPlace): boolean;
  /** Show the page of a place, and the page before it if it was requested as well. */
  show(place: LogPlace, page: LogPage, earlier: LogPage | null): void;
  /** Called when `place` or `error` changed. */
  changed(): void;
}

/**
 * Loads places and neighbouring pages of a log. At most one place is loaded at a time; of several requested
 * places only the last one is shown.
 */
export class LogLoader {
  constructor(
    private readonly _reader: LogReader,
    private readonly _host: ILoaderHost
  ) {}

  /** The place that is being loaded or waits for the connection; null for none. */
  get place(): LogPlace | null {
    return this._place;
  }

  /** Error message of the last request; null if it succeeded. */
  get error(): string | null {
    return this._error;
  }

  /** Load a place, instead of the place that is being loaded. */
  go(place: LogPlace): void {
    this._place = place;
    this._host.changed();
    void this.resume();
  }

  /** Load the requested place as soon as pages can be requested. Call this when the streams changed. */
  async resume(): Promise<void> {
    if (this._loading) {
      return;
    }
    this._loading = true;
    let going = true;
    while (going && this._place && this._host.canLoad()) {
      going = await this._load(this._place);
    }
    this._loading = false;
  }

  /**
   * Load the page next to an edge of the window. At most one such request per direction runs at a time, and
   * none while a place is loaded.
   *
   * @param direction - The edge's direction.
   * @param anchor - Position of the edge.
   * @param take - Called with the page.
   */
  async extend(
    direction: LogDirection,
    anchor: LogPage['after'],
    take: (page: LogPage) => void
  ): Promise<void> {
    if (
      this._extending.has(direction) ||
      this._place ||
      !this._host.canLoad()
    ) {
      return;
    }
    this._extending.add(direction);
    await this._attempt(async () => {
      take(await this._reader.page(anchor, direction));
    });
    this._extending.delete(direction);
  }

  /** Load a place. Returns false if the streams have no lines yet. */
  private async _load(place: LogPlace): Promise<boolean> {
    if (!this._host.prepare(place)) {
      return false;
    }
    await this._attempt(async () => {
      const page = await this._reader.at(place, () => this._place === place);
      // The lines before the line are shown as well.
      const earlier =
        place.at === 'line' && !page.at_start
          ? await this._reader.page(page.before, 'backward')
          : null;
      if (this._place === place) {
        this._place = null;
        this._host.show(place, page, earlier);
      }
    });
    return true;
  }

  /**
   * Run a request. A request whose connection closes is repeated by the next connection; another error ends
   * the loading.
   */
  private async _attempt(request: () => Promise<void>): Promise<void> {
    try {
      await request();
      this._error = null;
    } catch (error) {
      if (!(error instanceof LogConnectionLost)) {
        this._place = null;
        this._error = error instanceof Error ? error.message : String(error);
        this._host.changed();
      }
    }
  }

  private _place: LogPlace | null = { at: 'end' };
  private _error: string | null = null;
  private _loading = false;
  private readonly _extending = new Set<LogDirection>();
}
