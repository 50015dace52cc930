import { LogLine, LogStream } from '../../api/types';

/** Something to say about a stream at a place of the log: what is missing there, or why nothing comes. */
export interface ILogNote {
  readonly kind: 'missing' | 'waiting';
  readonly stream: LogStream;
  readonly sentence: string;
  /** Between which times what is missing was written. */
  readonly since: number | null;
  readonly until: number | null;
}

/** Notes by the index of the line that they stand before, or behind. */
export interface ILogNotes {
  readonly before: ReadonlyMap<number, readonly ILogNote[]>;
  readonly after: ReadonlyMap<number, readonly ILogNote[]>;
}

/** What is missing of a stream, and why it waits. */
export function notesOf(stream: LogStream): ILogNote[] {
  const missing = stream.missing.map(span => ({
    kind: 'missing' as const,
    stream,
    sentence: span.sentence,
    since: span.since,
    until: span.until
  }));
  return [...missing, ...waitingNotes(stream)];
}

/**
 * Where the notes belong among the lines that are held.
 *
 * What is missing stands before the line that comes next in its stream; behind the line before it, where
 * nothing comes next. What has no line on either side stands at the log's start, why a stream waits at its end.
 *
 * @param edges - Whether the lines begin and end where the log does.
 */
export function logNotes(
  lines: readonly LogLine[],
  streams: readonly LogStream[],
  edges: { atStart: boolean; atEnd: boolean }
): ILogNotes {
  const before = new Map<number, ILogNote[]>();
  const after = new Map<number, ILogNote[]>();
  if (lines.length === 0) {
    return { before, after };
  }
  const places = placesOf(lines, streams);
  for (const stream of streams) {
    notesOf(stream).forEach((note, number) => {
      if (note.kind === 'waiting') {
        if (edges.atEnd) {
          put(after, lines.length - 1, note);
        }
        return;
      }
      const place = places.get(`${stream.id} ${stream.missing[number].offset}`);
      if (place?.begins !== undefined) {
        put(before, place.begins, note);
      } else if (place?.ends !== undefined) {
        put(after, place.ends, note);
      } else if (stream.size === 0 && edges.atStart) {
        put(before, 0, note);
      }
    });
  }
  return { before, after };
}

interface IPlace {
  begins?: number;
  ends?: number;
}

/** The lines that begin or end where something is missing. */
function placesOf(
  lines: readonly LogLine[],
  streams: readonly LogStream[]
): Map<string, IPlace> {
  const places = new Map<string, IPlace>();
  for (const { id, missing } of streams) {
    missing.forEach(({ offset }) => places.set(`${id} ${offset}`, {}));
  }
  if (places.size > 0) {
    lines.forEach(({ stream, offset, size }, index) => {
      const begun = places.get(`${stream} ${offset}`);
      if (begun) {
        begun.begins = index;
      }
      const ended = places.get(`${stream} ${offset + size}`);
      if (ended) {
        ended.ends = index;
      }
    });
  }
  return places;
}

function waitingNotes(stream: LogStream): ILogNote[] {
  return stream.waiting === null
    ? []
    : [
        {
          kind: 'waiting',
          stream,
          sentence: stream.waiting,
          since: null,
          until: null
        }
      ];
}

function put(
  notes: Map<number, ILogNote[]>,
  index: number,
  note: ILogNote
): void {
  const known = notes.get(index);
  if (known) {
    known.push(note);
  } else {
    notes.set(index, [note]);
  }
}
