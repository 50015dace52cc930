import { LogPage } from '../../api/types';
import { LogPlace, LogReader } from './reader';
import { LogConnectionLost } from './session';

export type LogDirection = 'forward' | 'backward';

/** The log that a loader fills. */
export interface ILoaderHost {
  /** True if pages can be requested: the connection is open and the streams are known. */
  canLoad(): boolean;
  /** Choose the streams for a place; false if they have no lines, so that there is nothing to load. */
  prepare(place: LogPlace): boolean;
  /** Show the page of a place, and the page before it if that was requested as well. */
  show(place: LogPlace, page: LogPage, earlier: LogPage | null): void;
  /** `place` or `error` changed. */
  changed(): void;
}

/** Loads places and neighbouring pages of a log: one place at a time, however fast the user goes on. */
export class LogLoader {
  constructor(
    private readonly _reader: LogReader,
    private readonly _host: ILoaderHost
  ) {}

  /** The place that is being loaded or waits for the connection; null for none. */
  get place(): LogPlace | null {
    return this._place;
  }

  /** Message of the last failed request; null if the last one succeeded. */
  get error(): string | null {
    return this._error;
  }

  /** Load a place instead of the one that is being loaded. */
  go(place: LogPlace): void {
    this._place = place;
    this._host.changed();
    void this.resume();
  }

  /** Load no place. */
  cancel(): void {
    this._place = null;
  }

  /** Load the place as soon as possible; called again when the streams change. */
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
   * Load the page beside an edge of the window; one request for each direction.
   *
   * @param anchor - The edge.
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

  /** Returns false if there is nothing to load before lines are written. */
  private async _load(place: LogPlace): Promise<boolean> {
    if (!this._host.prepare(place)) {
      return false;
    }
    await this._attempt(async () => {
      const page = await this._reader.at(place);
      // A line is shown with the lines that led to it.
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

  /** Make a request; if the connection ends meanwhile, the next connection repeats it. */
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
