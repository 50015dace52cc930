import { LogPage } from '../../api/types';
import { LogSession } from './session';
import { LogChoice, offsetAfter } from './streams';
import { Cursor } from './window';

/** Lines that are asked for at once. */
const PAGE = 1000;

/** A place in the log that can be gone to. */
export type LogPlace =
  | { at: 'start' }
  | { at: 'end' }
  | { at: 'time'; time: number }
  | { at: 'line'; stream: string; offset: number }
  /** 0 to 1 of the bytes, as a scroll bar has it. */
  | { at: 'fraction'; fraction: number };

/** Reads pages of several streams, merged. */
export class LogReader {
  constructor(
    private readonly _session: LogSession,
    private readonly _choice: Pick<LogChoice, 'chosen' | 'ids'>
  ) {}

  /** The page on one side of a place that the server can name. */
  page(
    anchor: 'start' | 'end' | number | Cursor,
    direction: 'forward' | 'backward' = 'forward',
    lines = PAGE
  ): Promise<LogPage> {
    const streams = this._choice.ids;
    return this._session.read({ streams, anchor, direction, lines });
  }

  /** The page that begins at a place; the last one where nothing is behind it. */
  async at(place: LogPlace): Promise<LogPage> {
    switch (place.at) {
      case 'start':
        return this.page('start');
      case 'end':
        return this.page('end', 'backward');
      case 'time': {
        const page = await this.page(place.time);
        return page.lines.length ? page : this.page('end', 'backward');
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

  /** From a byte of one stream on, the others from the same time on. */
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

  /** Where all streams were at a time; without one, about as far as `offset`. */
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
