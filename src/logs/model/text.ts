/**
 * Text of a log for the clipboard and for downloads: queries for the server, and the text as the page shows
 * it.
 */
import { LogLine, LogStream } from '../../api/types';
import { parseAnsi } from './ansi';
import { formatMilliseconds } from '../../common/format';
import { ILogPassage, LogEnd } from './selection';
import { gutterLabel } from '../loading/streams';

/** Largest size of text that is copied, in bytes. Larger text is offered as a download. */
export const MOST_COPIED = 10_000_000;
/** Longest list of stream ids in a URL, in characters. Proxies reject longer URLs. */
const LONGEST_STREAMS = 12_000;
/** Number of lines that are converted before the page gets a turn, so that it stays responsive. */
const AT_ONCE = 2000;

/** Query of the API's `readLogText`: selects a part of a log. */
export type LogTextQuery = Record<string, string | number | boolean>;

/**
 * Return a short query for some of a job's streams.
 *
 * The query selects by attempt and by source first. Of the remaining streams, it lists the wanted or the
 * unwanted ids, whichever are fewer.
 *
 * @param all - All streams of the job.
 * @param chosen - The wanted streams.
 * @returns Null if the URL would be too long.
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

/** Return the query for the lines of a selection. */
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

/** Return the prefix of a copied line: its source and time. */
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
 * Convert the server's text to the text that the page shows, cut at the columns of the selection.
 *
 * @param text - The server's text. With labels, each line begins with its stream and time, separated by tabs.
 * @param passage - First and last selected place.
 * @param labels - Streams by id, to put the source and time before each line; null if the text has no labels.
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

/** Return the text that is shown in place of bytes that were removed from the log. */
export function removedText(line: LogLine): string {
  return `[${line.removed} bytes were removed here]`;
}
