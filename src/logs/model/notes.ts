/** Notes between the lines of a log: which parts of a stream are missing, and why a stream has no lines. */
import { LogLine, LogStream } from '../../api/types';

/** Note about a stream, shown between two lines. */
export interface ILogNote {
  /** `missing`: a part of the stream is lost. `waiting`: the stream has no lines yet. */
  readonly kind: 'missing' | 'waiting';
  readonly stream: LogStream;
  readonly sentence: string;
  /**
   * Start and end of the time span in which the missing lines were written, in seconds since the epoch; null
   * if unknown.
   */
  readonly since: number | null;
  readonly until: number | null;
}

/** Notes by the index of the line that follows them (`before`) or precedes them (`after`). */
export interface ILogNotes {
  readonly before: ReadonlyMap<number, readonly ILogNote[]>;
  readonly after: ReadonlyMap<number, readonly ILogNote[]>;
}

/** Return the notes of a stream, first those about missing parts. */
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
 * Return the positions of the streams' notes among the lines that the page holds.
 *
 * A note about a missing part stands before the stream's next line, or after the stream's previous line if
 * there is no next line. If the stream has no lines at all, the note stands at the start of the log. A note
 * about a stream that waits stands at the end of the log.
 *
 * @param lines - The lines that the page holds.
 * @param streams - The shown streams.
 * @param edges - True if the first line is the log's first line, and if the last line is its last line.
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

/** Indices of the lines that begin and end at the offset of a missing part. */
interface IPlace {
  begins?: number;
  ends?: number;
}

/** Find the lines next to each missing part; keys are `stream offset`. */
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
