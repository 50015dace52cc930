import { Job, LogLine, LogStream } from '../../api/types';
import { IAnsiStyle, IAnsiText } from './ansi';
import { contentsPath } from '../../common/contentsPath';

/** How much a line asks for attention. */
export type LogLevel = 'error' | 'warning' | null;

// What torch and its launcher put before a rank's words: “[rank2]: ”.
const PREFIX = '^(?:\\[rank\\d+\\]:\\s?)?';

/**
 * Begins of Python's tracebacks and last lines of them, for the search on the server: common to
 * Python's and JavaScript's regular expressions.
 */
export const ERROR_PATTERN = `${PREFIX}(?:Traceback \\(most recent call last\\)|[A-Za-z_][\\w.]*(?:Error|Exception|Interrupt|Exit)(?::|$))`;

const ERROR = new RegExp(
  `${ERROR_PATTERN}|^E\\d{4} |\\b(?:ERROR|CRITICAL|FATAL)\\b`
);
const WARNING = /^W\d{4} |\b(?:WARN|WARNING)\b|\b[A-Z]\w*Warning:/;

/** Guess a line's level from the words that Python, torch and common loggers use. */
export function levelOf(text: string): LogLevel {
  const start = text.slice(0, 500);
  return ERROR.test(start) ? 'error' : WARNING.test(start) ? 'warning' : null;
}

/** A part of a line that names a line of a file. */
export interface IFileLink {
  readonly start: number;
  readonly end: number;
  /** As the contents API names the file. */
  readonly path: string;
  readonly line: number;
}

/** A part of a line that leads to a page of the web. */
export interface IWebLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/** The links that a line was written with: to the web, and to files that can be opened in the lab. */
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
      // not a name in UTF-8
    }
    return path === null ? [] : [{ start, end, path, line: 1 }];
  });
}

const FRAME = /File "([^"]+)", line (\d+)/g;

/** Find the places of tracebacks that can be opened in the lab. */
export function fileLinks(
  text: string,
  contentsPath: (file: string) => string | null
): IFileLink[] {
  const links: IFileLink[] = [];
  for (const match of text.matchAll(FRAME)) {
    // The cells of a notebook have names of their own: “explore.ipynb, cell 3”.
    const path = contentsPath(match[1].replace(/(\.ipynb), cell \d+$/, '$1'));
    if (path !== null) {
      const start = (match.index ?? 0) + 'File '.length;
      links.push({
        start,
        end: start + match[0].length - 'File '.length,
        path,
        line: Number(match[2])
      });
    }
  }
  return links;
}

/**
 * From files as a job names them to the contents API's paths.
 *
 * The server gives both names of the working directory; what is common behind them is below the
 * lab's root, and the root is what is left of the absolute one.
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
    // Not what has no file (“<string>”), nor what a path could climb out with.
    return file.startsWith('<') || absolute.split('/').includes('..')
      ? null
      : contentsPath(absolute, root);
  };
}

function trimSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

/** A run of characters that are drawn alike. */
export interface IPiece {
  readonly text: string;
  readonly style: IAnsiStyle | null;
  readonly hit: boolean;
  readonly link: IFileLink | IWebLink | null;
}

/** Cut a line where its style, a search hit or a link begins or ends. */
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

/** More hits than this in one line are not marked one by one. */
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
 * Where a later attempt begins.
 *
 * @param together - Whether all replicas restart together, so that one divider stands for all.
 * @returns The stream of each line (by its index) before which a divider belongs.
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
