import { LogLine, LogStream } from '../../api/types';
import { parseAnsi } from './ansi';
import { formatMilliseconds } from '../../common/format';
import { ILogPassage, LogEnd } from './selection';
import { gutterLabel } from './streams';

/** More bytes than this are not copied but downloaded. */
export const MOST_COPIED = 10_000_000;
/** Characters of an address that proxies let through. */
const LONGEST_STREAMS = 12_000;
/** Lines that are made ready at once, so that the page stays responsive. */
const AT_ONCE = 2000;

/** Query of the API's `readLogText`: the part of a log that the client asks for. */
export type LogTextQuery = Record<string, string | number | boolean>;

/**
 * Name some of a job's streams in few words: by attempt and kind, then by those that are meant or are not.
 *
 * @returns Null where no address could name them.
 */
export function streamQuery(
  all: readonly LogStream[],
  chosen: readonly LogStream[]
): LogTextQuery | null {
  const query: LogTextQuery = {};
  let base = [...all];
  const attempts = new Set(chosen.map(({ attempt }) => attempt));
  if (attempts.size === 1) {
    const [attempt] = attempts;
    query.attempt = attempt;
    base = base.filter(stream => stream.attempt === attempt);
  }
  const kinds = new Set(chosen.map(({ source }) => source));
  if (base.some(({ source }) => !kinds.has(source))) {
    query.sources = [...kinds].join();
    base = base.filter(({ source }) => kinds.has(source));
  }
  const wanted = new Set(chosen);
  const others = base.filter(stream => !wanted.has(stream));
  if (others.length > 0) {
    const ids = (streams: readonly LogStream[]): string =>
      streams.map(({ id }) => id).join();
    const [name, value] =
      others.length < chosen.length
        ? ['except', ids(others)]
        : ['streams', ids(chosen)];
    if (value.length > LONGEST_STREAMS) {
      return null;
    }
    query[name] = value;
  }
  return query;
}

/** Name the lines of a selection. */
export function passageQuery({ from, to }: ILogPassage): LogTextQuery {
  return { ...endQuery('from', from), ...endQuery('to', to) };
}

function endQuery(name: 'from' | 'to', end: LogEnd): LogTextQuery {
  return typeof end === 'string'
    ? {}
    : {
        [`${name}_stream`]: end.stream,
        [`${name}_offset`]: end.offset,
        ...(end.time !== null && { [`${name}_time`]: end.time })
      };
}

/** Return the prefix of a copied line: its rank and time. */
export function lineLabel(
  stream: LogStream | undefined,
  time: number | null
): string {
  return [
    stream && gutterLabel(stream),
    time === null ? null : formatMilliseconds(time)
  ]
    .filter(Boolean)
    .map(text => `${text} `)
    .join('');
}

/**
 * Make the server's text into what is copied: as it is shown, cut at the columns of the selection.
 *
 * @param labels - The streams by id, where each line begins with its stream and time and these are wanted.
 */
export async function shownLogText(
  text: string,
  { from, to }: ILogPassage,
  labels: ReadonlyMap<string, LogStream> | null
): Promise<{ text: string; lines: number }> {
  const lines = text.replace(/\n$/, '').split('\n');
  const last = lines.length - 1;
  for (let index = 0; index <= last; index++) {
    let label = '';
    let source = lines[index];
    if (labels) {
      const [stream, time] = source.split('\t', 2);
      source = source.slice(stream.length + time.length + 2);
      const seconds = time ? Date.parse(time) / 1000 : null;
      label = lineLabel(labels.get(stream), seconds);
    }
    const shown = parseAnsi(source).text;
    const start = index === 0 && typeof from !== 'string' ? from.column : 0;
    const end =
      index === last && typeof to !== 'string' ? to.column : undefined;
    lines[index] = label + shown.slice(start, end);
    if (index % AT_ONCE === AT_ONCE - 1) {
      await new Promise(resolve => setTimeout(resolve));
    }
  }
  return { text: lines.join('\n'), lines: lines.length };
}

/** Return the text that stands for bytes that were removed from the log. */
export function removedText(line: LogLine): string {
  return `[${line.removed} bytes were removed here]`;
}
