/** A job's log streams: names, sources, and the filter that decides which streams are shown. */
import { LogStream } from '../../api/types';

/** Lowest level of the shown lines. */
export type LowestLevel = 'warning' | 'error';

/** Filter of a log's streams and lines. */
export interface ILogFilter {
  /** Number of the only attempt that is shown; null for all attempts. */
  readonly attempt: number | null;
  /** Keys of the hidden sources; see `sourceKey`. */
  readonly hidden: readonly string[];
  /** True if the launcher's own output is shown. */
  readonly launcher: boolean;
  /**
   * True to show a pod's container output where the ranks write log files of their own. The container output
   * repeats the ranks' and the launcher's output, so the files' streams are hidden then.
   */
  readonly container: boolean;
  /** Lowest level of the shown lines; null for all lines. */
  readonly level: LowestLevel | null;
}

/** Default filter: all ranks, containers and levels, without the launcher and without repeated output. */
export const SHOW_ALL: ILogFilter = {
  attempt: null,
  hidden: [],
  launcher: false,
  container: false,
  level: null
};

/** A rank or a container in all attempts, for the filter and the gutter. */
export interface ILogSource {
  /** See `sourceKey`. */
  readonly key: string;
  /** The global rank if torchrun has reported it, else replica and local rank. */
  readonly label: string;
  readonly replica: string;
  /** Index of the source's colour. */
  readonly series: number;
}

/** Return the key of a stream's source, which is the same in all attempts. */
export function sourceKey(stream: LogStream): string {
  if (stream.source === 'rank') {
    return `${stream.replica}/${stream.local_rank}`;
  }
  return stream.container === null
    ? stream.replica
    : `${stream.replica}/${stream.container}`;
}

/** Return a short label of a stream's source; empty for the launcher. */
export function sourceLabel(stream: LogStream): string {
  if (stream.source === 'launcher') {
    return '';
  }
  if (stream.source !== 'rank') {
    return stream.container === null
      ? stream.replica
      : `${stream.replica} ${stream.container}`;
  }
  return stream.rank === null
    ? `${stream.replica}:${stream.local_rank}`
    : String(stream.rank);
}

/** Return a label of about four characters: of the replica's type only the `m` of a master remains. */
export function gutterLabel(stream: LogStream): string {
  return (stream.container === null ? sourceLabel(stream) : stream.replica)
    .replace(/^master-/, 'm')
    .replace(/^.*-/, '');
}

/**
 * Return how many bytes before an offset still exist.
 *
 * Bytes are removed from the middle of a log that exceeds its limit. The exact place of the removed bytes
 * isn't known here, so the result is an estimate.
 *
 * @param stream - Size of the stream and number of removed bytes.
 * @param offset - Offset in the stream, counting removed bytes.
 */
export function bytesUpTo(
  { size, removed }: Pick<LogStream, 'size' | 'removed'>,
  offset: number
): number {
  const cut = (size - removed) / 2;
  return offset - Math.min(removed, Math.max(0, offset - cut));
}

/** Return the offset before which a number of bytes still exist: the inverse of `bytesUpTo`. */
export function offsetAfter(
  { size, removed }: Pick<LogStream, 'size' | 'removed'>,
  bytes: number
): number {
  return Math.floor(bytes < (size - removed) / 2 ? bytes : bytes + removed);
}

/** Return the sources of a job's streams, sorted by rank. Labels come from each source's newest attempt. */
export function logSources(streams: readonly LogStream[]): ILogSource[] {
  const newest = new Map<string, LogStream>();
  const repeats = repeatedByRanks(streams);
  for (const stream of streams) {
    const known = newest.get(sourceKey(stream));
    if (
      stream.source !== 'launcher' &&
      !repeats.has(stream) &&
      (!known || stream.attempt >= known.attempt)
    ) {
      newest.set(sourceKey(stream), stream);
    }
  }
  return [...newest]
    .sort(([, a], [, b]) => compareSources(a, b))
    .map(([key, stream], series) => ({
      key,
      label: sourceLabel(stream),
      replica: stream.replica,
      series
    }));
}

/** Return the numbers of the attempts that have streams, ascending. */
export function logAttempts(streams: readonly LogStream[]): number[] {
  return [...new Set(streams.map(stream => stream.attempt))].sort(
    (a, b) => a - b
  );
}

/** Return the container streams whose output is also in the log files of the pod's ranks. */
export function repeatedByRanks(
  streams: readonly LogStream[]
): ReadonlySet<LogStream> {
  const attempts = new Set(
    streams
      .filter(({ source }) => source === 'rank')
      .map(({ replica, attempt }) => `${replica} ${attempt}`)
  );
  return new Set(
    streams.filter(
      ({ source, container, replica, attempt }) =>
        source === 'container' &&
        container === null &&
        attempts.has(`${replica} ${attempt}`)
    )
  );
}

/** Return the streams that pass a filter. */
export function chosenStreams(
  streams: readonly LogStream[],
  filter: ILogFilter
): LogStream[] {
  const hidden = new Set(filter.hidden);
  const repeats = repeatedByRanks(streams);
  // Attempts of replicas whose container output is shown instead of the ranks' files.
  const instead = new Set(
    filter.container
      ? [...repeats].map(({ replica, attempt }) => `${replica} ${attempt}`)
      : []
  );
  const lets = (stream: LogStream): boolean => {
    if (repeats.has(stream)) {
      return filter.container;
    }
    const fromFile = stream.source === 'rank' || stream.source === 'launcher';
    if (fromFile && instead.has(`${stream.replica} ${stream.attempt}`)) {
      return false;
    }
    return stream.source === 'launcher'
      ? filter.launcher
      : !hidden.has(sourceKey(stream));
  };
  return streams.filter(
    stream =>
      (filter.attempt === null || stream.attempt === filter.attempt) &&
      lets(stream)
  );
}

/**
 * Return a filter that shows one more stream.
 *
 * @param filter - The current filter.
 * @param stream - The stream to show.
 * @param streams - All streams of the job.
 */
export function showStream(
  filter: ILogFilter,
  stream: LogStream,
  streams: readonly LogStream[]
): ILogFilter {
  return {
    attempt: filter.attempt === stream.attempt ? stream.attempt : null,
    hidden: filter.hidden.filter(key => key !== sourceKey(stream)),
    launcher: filter.launcher || stream.source === 'launcher',
    container: repeatedByRanks(streams).has(stream),
    level: filter.level
  };
}

/** Holds a job's streams and the filter, and selects the shown streams. */
export class LogChoice {
  constructor(filter: ILogFilter) {
    this._filter = filter;
  }

  /** All streams of the job; null before the server has sent them. */
  get streams(): readonly LogStream[] | null {
    return this._streams;
  }

  set streams(streams: readonly LogStream[] | null) {
    this._streams = streams;
    this._choose();
  }

  get filter(): ILogFilter {
    return this._filter;
  }

  set filter(filter: ILogFilter) {
    this._filter = filter;
    this._choose();
  }

  /** The streams that pass the filter. */
  get chosen(): readonly LogStream[] {
    return this._chosen;
  }

  /** Ids of the streams that pass the filter. */
  get ids(): string[] {
    return this._chosen.map(stream => stream.id);
  }

  /** Change the filter so that it also shows the stream with this id. */
  show(id: string): void {
    const stream = this._streams?.find(item => item.id === id);
    if (stream && !this._chosen.includes(stream)) {
      this.filter = showStream(this._filter, stream, this._streams ?? []);
    }
  }

  private _choose(): void {
    this._chosen = chosenStreams(this._streams ?? [], this._filter);
  }

  private _filter: ILogFilter;
  private _streams: readonly LogStream[] | null = null;
  private _chosen: readonly LogStream[] = [];
}

/** Created once, because `localeCompare` creates a collator for each comparison. */
const NATURAL = new Intl.Collator(undefined, { numeric: true });

function compareSources(a: LogStream, b: LogStream): number {
  return (
    (a.rank ?? Infinity) - (b.rank ?? Infinity) ||
    NATURAL.compare(a.replica, b.replica) ||
    (a.local_rank ?? 0) - (b.local_rank ?? 0)
  );
}
