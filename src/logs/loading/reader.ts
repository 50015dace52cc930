/** Requests for pages of the merged log. */
import { LogPage } from '../../api/types';
import { LogSession } from './session';
import { LogChoice, offsetAfter } from './streams';
import { Cursor } from './window';

/** Number of lines of a page. */
const PAGE = 1000;

/** Place in the log that the user can go to. */
export type LogPlace =
  | { at: 'start' }
  | { at: 'end' }
  | { at: 'time'; time: number }
  | { at: 'line'; stream: string; offset: number }
  /** Fraction (0 to 1) of the log's bytes, as the scroll bar gives it. */
  | { at: 'fraction'; fraction: number };

/** Reads pages of the shown streams, merged by time. */
export class LogReader {
  constructor(
    private readonly _session: LogSession,
    private readonly _choice: Pick<LogChoice, 'chosen' | 'ids' | 'filter'>
  ) {}

  /**
   * Read a page before or after a position.
   *
   * @param anchor - Start or end of the log, a time, or a position.
   * @param direction - `forward` for the page after the position, `backward` for the page before it.
   * @param lines - Number of lines.
   */
  page(
    anchor: 'start' | 'end' | number | Cursor,
    direction: 'forward' | 'backward' = 'forward',
    lines = PAGE
  ): Promise<LogPage> {
    const streams = this._choice.ids;
    const level = this._choice.filter.level ?? null;
    return this._session.read({ streams, anchor, direction, lines, level });
  }

  /**
   * Read the page that begins at a place. Returns the last page if the log has no lines after the place.
   *
   * @param place - The place.
   * @param isWanted - Returns false if the page isn't needed any more. A search for lines of a level may take
   * several requests.
   */
  async at(place: LogPlace, isWanted = (): boolean => true): Promise<LogPage> {
    switch (place.at) {
      case 'start':
        return this._some(await this.page('start'), 'forward', isWanted);
      case 'end':
        return this._last(isWanted);
      case 'time': {
        const page = await this.page(place.time);
        const some = await this._some(page, 'forward', isWanted);
        return some.lines.length ? some : this._last(isWanted);
      }
      case 'line':
        return this._atByte(place.stream, place.offset);
      case 'fraction': {
        const largest = this._choice.chosen.reduce((a, b) =>
          b.size > a.size ? b : a
        );
        const bytes = (largest.size - largest.removed) * place.fraction;
        const offset = offsetAfter(largest, bytes);
        return this._atByte(largest.id, offset);
      }
    }
  }

  /** Read the last page. */
  private async _last(isWanted: () => boolean): Promise<LogPage> {
    const page = await this.page('end', 'backward');
    return this._some(page, 'backward', isWanted);
  }

  /** Continue the search for lines of a level if a page has none. Each request reads a part of the log. */
  private async _some(
    page: LogPage,
    direction: 'forward' | 'backward',
    isWanted: () => boolean
  ): Promise<LogPage> {
    while (
      page.lines.length === 0 &&
      !(direction === 'forward' ? page.at_end : page.at_start) &&
      isWanted()
    ) {
      const next = await this.page(
        direction === 'forward' ? page.after : page.before,
        direction
      );
      page =
        direction === 'forward'
          ? { ...next, before: page.before, at_start: page.at_start }
          : { ...next, after: page.after, at_end: page.at_end };
    }
    return page;
  }

  /** Read the page that begins at a byte of one stream. The other streams begin at the time of that line. */
  private async _atByte(stream: string, offset: number): Promise<LogPage> {
    const probe = await this._session.read({
      streams: [stream],
      anchor: { [stream]: offset },
      lines: 1
    });
    const line = probe.lines[0];
    if (!line) {
      return this.page('end', 'backward');
    }
    const others = await this._cursorAt(line.time, line.offset);
    let page = await this.page({ ...others, [stream]: line.offset });
    // Lines of the same moment may fill more than one page.
    while (!page.at_end && (page.after[stream] ?? 0) <= line.offset) {
      page = await this.page(page.after);
    }
    return page;
  }

  /**
   * Return the position of all streams at a time. If the time is unknown, all streams are at `offset`, which
   * is an estimate.
   */
  private async _cursorAt(
    time: number | null,
    offset: number
  ): Promise<Cursor> {
    if (this._choice.chosen.length === 1) {
      return {};
    }
    if (time !== null) {
      return (await this.page(time, 'forward', 1)).before;
    }
    return Object.fromEntries(
      this._choice.chosen.map(({ id, size }) => [id, Math.min(offset, size)])
    );
  }
}
