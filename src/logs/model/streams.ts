import { LogStream } from '../../api/types';

/** Which streams are shown. */
export interface ILogFilter {
  /** One attempt, or all of them. */
  readonly attempt: number | null;
  /** Keys of the sources that are not shown. */
  readonly hidden: readonly string[];
  /** Whether the launcher's own words are shown. */
  readonly launcher: boolean;
  /**
   * Whether pods are shown by what they print where their ranks have files of their own. It is the
   * same once more, with the launcher's words: so never both.
   */
  readonly container: boolean;
}

/** Everything but the launcher, which is folded by default, and nothing twice. */
export const SHOW_ALL: ILogFilter = {
  attempt: null,
  hidden: [],
  launcher: false,
  container: false
};

/** A rank (or a container) as the filter and the gutter know it, over all attempts. */
export interface ILogSource {
  readonly key: string;
  /** The global rank where torchrun has told it, else replica and local rank. */
  readonly label: string;
  readonly replica: string;
  /** Place in the series of colours. */
  readonly series: number;
}

/** What names a stream's source over all attempts. */
export function sourceKey(stream: LogStream): string {
  if (stream.source === 'rank') {
    return `${stream.replica}/${stream.local_rank}`;
  }
  return stream.container === null
    ? stream.replica
    : `${stream.replica}/${stream.container}`;
}

/** A stream's rank in short; the launcher has none. */
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

/** The same where there is room for four characters: of the replica's type only that it is the master. */
export function gutterLabel(stream: LogStream): string {
  return (stream.container === null ? sourceLabel(stream) : stream.replica)
    .replace(/^master-/, 'm')
    .replace(/^.*-/, '');
}

/**
 * How many bytes of a stream are there up to an offset.
 *
 * What is cut out to keep a log below its limit is cut out of the middle, so about there it is missing.
 */
export function bytesUpTo(
  { size, removed }: Pick<LogStream, 'size' | 'removed'>,
  offset: number
): number {
  const cut = (size - removed) / 2;
  return offset - Math.min(removed, Math.max(0, offset - cut));
}

/** The offset in a stream up to which so many bytes are there. */
export function offsetAfter(
  { size, removed }: Pick<LogStream, 'size' | 'removed'>,
  bytes: number
): number {
  return Math.floor(bytes < (size - removed) / 2 ? bytes : bytes + removed);
}

/** The ranks (or containers) that a job's streams come from, in the order of their ranks. */
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

/** The attempts that streams exist of, first to last. */
export function logAttempts(streams: readonly LogStream[]): number[] {
  return [...new Set(streams.map(stream => stream.attempt))].sort(
    (a, b) => a - b
  );
}

/** The streams of pods whose ranks have files of their own, so that these have the same once more. */
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

/** The streams that a filter lets through. */
export function chosenStreams(
  streams: readonly LogStream[],
  filter: ILogFilter
): LogStream[] {
  const hidden = new Set(filter.hidden);
  const repeats = repeatedByRanks(streams);
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

/** The filter that shows a stream besides what it showed before. */
export function showStream(
  filter: ILogFilter,
  stream: LogStream,
  streams: readonly LogStream[]
): ILogFilter {
  return {
    attempt: filter.attempt === stream.attempt ? stream.attempt : null,
    hidden: filter.hidden.filter(key => key !== sourceKey(stream)),
    launcher: filter.launcher || stream.source === 'launcher',
    container: repeatedByRanks(streams).has(stream)
  };
}

/** The streams that there are, and those of them that are shown. */
export class LogChoice {
  constructor(filter: ILogFilter) {
    this._filter = filter;
  }

  /** Null before they are known. */
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

  get chosen(): readonly LogStream[] {
    return this._chosen;
  }

  get ids(): string[] {
    return this._chosen.map(stream => stream.id);
  }

  /** Let the filter through a stream besides what it showed before. */
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

/** Made once: `localeCompare` makes one for each comparison. */
const NATURAL = new Intl.Collator(undefined, { numeric: true });

function compareSources(a: LogStream, b: LogStream): number {
  return (
    (a.rank ?? Infinity) - (b.rank ?? Infinity) ||
    NATURAL.compare(a.replica, b.replica) ||
    (a.local_rank ?? 0) - (b.local_rank ?? 0)
  );
}
