/** Content of a log line: level, links, pieces of one style, and starts of attempts. */
import { Job, LogLine, LogStream } from '../../api/types';
import { IAnsiStyle, IAnsiText } from './ansi';
import { contentsPath } from '../../common/contentsPath';

/** Level of a line, which decides the line's colour. */
export type LogLevel = 'error' | 'warning' | null;

// Prefix that torch and its launcher put before a rank's output: “[rank2]: ”.
const PREFIX = '^(?:\\[rank\\d+\\]:\\s?)?';

/**
 * Pattern of the first and last lines of Python's tracebacks, for the search on the server. It is valid in
 * Python's and in JavaScript's regular expressions.
 */
export const ERROR_PATTERN = `${PREFIX}(?:Traceback \\(most recent call last\\)|[A-Za-z_][\\w.]*(?:Error|Exception|Interrupt|Exit)(?::|$))`;

const ERROR = new RegExp(
  `${ERROR_PATTERN}|^E\\d{4} |\\b(?:ERROR|CRITICAL|FATAL)\\b`
);
const WARNING = /^W\d{4} |\b(?:WARN|WARNING)\b|\b[A-Z]\w*Warning:/;

/** Guess a line's level from the words that Python, torch and common loggers write. */
export function levelOf(text: string): LogLevel {
  const start = text.slice(0, 500);
  return ERROR.test(start) ? 'error' : WARNING.test(start) ? 'warning' : null;
}

/** Part of a line that links to a line of a file. */
export interface IFileLink {
  readonly start: number;
  readonly end: number;
  /** Path in the contents API. */
  readonly path: string;
  /** Line of the file, or of the notebook's cell. */
  readonly line: number;
  /** Cell of a notebook, from 1. */
  readonly cell?: number;
}

/** Part of a line that links to a web page. */
export interface IWebLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/**
 * Return the links that the program wrote (OSC 8): to web pages, and to files that the lab can open.
 *
 * @param text - The parsed line.
 * @param contentsPath - Returns the path of a file in the contents API; null if the lab can't open the file.
 */
export function writtenLinks(
  { links }: IAnsiText,
  contentsPath: (file: string) => string | null
): (IFileLink | IWebLink)[] {
  return links.flatMap<IFileLink | IWebLink>(link => {
    const { start, end, url } = link;
    if (!url.startsWith('file:')) {
      return [link];
    }
    let path: string | null = null;
    try {
      path = contentsPath(decodeURIComponent(new URL(url).pathname));
    } catch {
      // The file's name isn't valid UTF-8.
    }
    return path === null ? [] : [{ start, end, path, line: 1 }];
  });
}

const FRAME = /File "([^"]+)", line (\d+)/g;

/**
 * Return links for the frames of a traceback (`File "…", line …`).
 *
 * @param text - Text of the line.
 * @param contentsPath - Returns the path of a file in the contents API; null if the lab can't open the file.
 */
export function fileLinks(
  text: string,
  contentsPath: (file: string) => string | null
): IFileLink[] {
  const links: IFileLink[] = [];
  for (const match of text.matchAll(FRAME)) {
    // The frames of a notebook's cells name the cell after the file: “explore.ipynb, cell 3”.
    const [, file, cell] = /^(.*\.ipynb), cell (\d+)$/.exec(match[1]) ?? [];
    const path = contentsPath(file ?? match[1]);
    if (path !== null) {
      const start = (match.index ?? 0) + 'File '.length;
      links.push({
        start,
        end: start + match[0].length - 'File '.length,
        path,
        line: Number(match[2]),
        ...(cell && { cell: Number(cell) })
      });
    }
  }
  return links;
}

/**
 * Return a function that converts the file names in a job's log to paths of the contents API.
 *
 * The server gives the working directory as an absolute path and as a path of the contents API. The second is
 * the end of the first; the lab's root is the rest of the first.
 */
export function contentsPaths(
  job: Pick<Job, 'working_dir' | 'working_dir_path'> | null
): (file: string) => string | null {
  const directory = trimSlash(job?.working_dir ?? '');
  const path = trimSlash(job?.working_dir_path ?? '');
  if (
    job?.working_dir_path == null ||
    !directory.endsWith(path && `/${path}`)
  ) {
    return () => null;
  }
  const root = path ? directory.slice(0, -path.length - 1) : directory;
  return file => {
    const absolute = file.startsWith('/') ? file : `${directory}/${file}`;
    // Names such as “<string>” are no files. Paths with “..” could lead out of the lab's root.
    return file.startsWith('<') || absolute.split('/').includes('..')
      ? null
      : contentsPath(absolute, root);
  };
}

function trimSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

/** Run of characters with the same style, hit and link. */
export interface IPiece {
  readonly text: string;
  readonly style: IAnsiStyle | null;
  readonly hit: boolean;
  readonly link: IFileLink | IWebLink | null;
}

/**
 * Split a line at the ends of its styles, search hits and links.
 *
 * @param text - The parsed line.
 * @param expression - The search; null for none.
 * @param links - Links of the line.
 */
export function pieces(
  { text, runs }: IAnsiText,
  expression: RegExp | null,
  links: readonly (IFileLink | IWebLink)[]
): IPiece[] {
  const hits = expression ? matches(text, expression) : [];
  const spans = [...runs, ...hits, ...links];
  const cuts = new Set([0, text.length]);
  spans.forEach(({ start, end }) => cuts.add(start).add(end));
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => {
    const start = places[index];
    const covers = (span: { start: number; end: number }): boolean =>
      span.start <= start && span.end >= end;
    return {
      text: text.slice(start, end),
      style: runs.find(covers)?.style ?? null,
      hit: hits.some(covers),
      link: links.find(covers) ?? null
    };
  });
}

/** Number of hits that are marked in one line. */
const MOST_HITS = 200;

function matches(
  text: string,
  expression: RegExp
): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (const match of text.matchAll(expression)) {
    if (match[0] !== '') {
      const start = match.index ?? 0;
      found.push({ start, end: start + match[0].length });
    }
    if (found.length >= MOST_HITS) {
      break;
    }
  }
  return found;
}

/**
 * Return the lines before which a later attempt begins.
 *
 * @param lines - Lines in the order of the log.
 * @param streams - Streams by id.
 * @param together - True if all replicas restart together, so that one divider is enough for all.
 * @returns The stream of each such line, by the line's index.
 */
export function attemptStarts(
  lines: readonly LogLine[],
  streams: ReadonlyMap<string, LogStream>,
  together: boolean
): Map<number, LogStream> {
  const starts = new Map<number, LogStream>();
  const attempts = new Set([...streams.values()].map(({ attempt }) => attempt));
  if (attempts.size < 2) {
    return starts;
  }
  const current = new Map<string, number>();
  lines.forEach((line, index) => {
    const stream = streams.get(line.stream);
    if (!stream) {
      return;
    }
    const group = together ? '' : stream.replica;
    const known = current.get(group);
    if (known === undefined || stream.attempt > known) {
      current.set(group, stream.attempt);
      if (known !== undefined) {
        starts.set(index, stream);
      }
    }
  });
  return starts;
}
