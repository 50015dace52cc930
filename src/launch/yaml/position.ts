/** Position of a cursor in a YAML text: the path of the field that is being written. */

/** A step to a value: the name of a field, or null for an item of a list. */
export type PathPart = string | null;

/** The place of a cursor. */
export interface IYamlPosition {
  /** Path of the object that gets a key, or of the value. */
  path: PathPart[];
  kind: 'key' | 'value';
  /** Column at which the written word begins, from 0. */
  from: number;
  /** The word up to the cursor. */
  text: string;
  /** Column at which the keys of the object begin. */
  indent: number;
  /** Keys that the object has on other lines. */
  others: string[];
}

interface ILine {
  /** Columns of the dashes that begin list items. */
  dashes: number[];
  /** Column of the first character after the dashes. */
  start: number;
  key: string | null;
  /** Column after the key's colon; equal to `start` without a key. */
  end: number;
  /** Text after the key, without anchor, tag and comment. */
  value: string;
}

const KEY =
  /(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s#"'{}[\]&*!|>%@`,-](?:[^:#]|:(?=\S)|(?<=\S)#)*?|-\S(?:[^:#]|:(?=\S))*?))\s*:(?=\s|$)/y;

/** Return the place of a cursor; null where nothing can be completed, such as in a comment or in a block of text. */
export function positionAt(
  lines: readonly string[],
  index: number,
  column: number
): IYamlPosition | null {
  const text = lines[index] ?? '';
  if (/(^|\s)#/.test(text.slice(0, column))) {
    return null;
  }
  const line = read(text);
  const isBlank = line.start >= text.trimEnd().length;
  const indent = isBlank ? Math.max(column, line.start) : line.start;
  const isInValue = line.key !== null && column >= line.end;
  if (column < (isBlank ? 0 : line.start)) {
    return null;
  }
  const path = parents(lines, index, indent, line.dashes);
  if (!path) {
    return null;
  }
  if (!isInValue) {
    const from = isBlank ? column : line.start;
    const written = text.slice(from, column);
    const others = siblings(lines, index, indent);
    return /^[\w./-]*$/.test(written)
      ? { path, kind: 'key', from, text: written, indent, others }
      : null;
  }
  const before = /^\s*/.exec(text.slice(line.end)) as RegExpExecArray;
  const from = Math.min(line.end + before[0].length, column);
  const written = text.slice(from, column);
  return from > line.end && /^[\w./-]*$/.test(written)
    ? {
        ...{ path: [...path, line.key], kind: 'value', from, text: written },
        ...{ indent, others: [] }
      }
    : null;
}

/** Return the path of the key at a position, and the columns of the key; null if there is no key. */
export function keyAt(
  lines: readonly string[],
  index: number,
  column: number
): { path: PathPart[]; from: number; to: number } | null {
  const line = read(lines[index] ?? '');
  if (line.key === null || column < line.start || column > line.end) {
    return null;
  }
  const path = parents(lines, index, line.start, line.dashes);
  return path && { path: [...path, line.key], from: line.start, to: line.end };
}

/** Return the column at which the line after a key begins: that of the key's fields; null after another line. */
export function indentAfter(text: string): number | null {
  const { key, start, value } = read(text);
  return key !== null && value === '' ? start + 2 : null;
}

function read(text: string): ILine {
  const dashes: number[] = [];
  let start = 0;
  for (;;) {
    while (text[start] === ' ') {
      start++;
    }
    if (text[start] !== '-' || !/^-(\s|$)/.test(text.slice(start))) {
      break;
    }
    dashes.push(start++);
  }
  KEY.lastIndex = start;
  const match = KEY.exec(text);
  if (!match) {
    return { dashes, start, key: null, end: start, value: text.slice(start) };
  }
  const end = start + match[0].length;
  const value = text
    .slice(end)
    .replace(/(^|\s)#.*$/, '')
    .replace(/^\s*([&!]\S*\s*)*/, '')
    .trim();
  const key = match[1] ?? match[2] ?? match[3];
  return { dashes, start, key, end, value };
}

/** Return the path of the object whose keys begin at a column; null inside a text of several lines. */
function parents(
  lines: readonly string[],
  index: number,
  column: number,
  dashes: readonly number[]
): PathPart[] | null {
  const path: PathPart[] = [];
  let keyLimit = column; // a parent's key begins before this column
  let dashLimit = column;
  const enter = (columns: readonly number[]): void => {
    for (const dash of [...columns].reverse()) {
      if (dash < dashLimit) {
        path.unshift(null);
        dashLimit = dash;
        keyLimit = dash + 1; // the dashes of a list may begin at the column of its key
      }
    }
  };
  enter(dashes);
  for (let at = index - 1; at >= 0 && keyLimit > 0; at--) {
    const text = lines[at];
    if (/^(---|\.\.\.)(\s|$)/.test(text)) {
      break;
    }
    if (/^\s*(#|$)/.test(text)) {
      continue;
    }
    const line = read(text);
    if (line.key !== null && line.start < keyLimit) {
      if (line.value) {
        return null; // a text of several lines, or a value in brackets
      }
      path.unshift(line.key);
      keyLimit = dashLimit = line.start;
    }
    const { key, value } = line;
    if (key === null && value && line.dashes.some(dash => dash < dashLimit)) {
      return null; // an item that is a text of several lines
    }
    enter(line.dashes);
  }
  return path;
}

/** Return the keys on other lines of the object whose keys begin at a column. */
function siblings(
  lines: readonly string[],
  index: number,
  column: number
): string[] {
  const found: string[] = [];
  const visit = (at: number, isAbove: boolean): boolean => {
    const text = lines[at];
    if (/^\s*(#|$)/.test(text)) {
      return true;
    }
    const { dashes, start, key } = read(text);
    const isItem = dashes.some(dash => dash < column);
    if (key !== null && start === column && (isAbove || !isItem)) {
      found.push(key);
    }
    return start >= column && !isItem;
  };
  let at = read(lines[index]).dashes.length ? -1 : index - 1;
  while (at >= 0 && visit(at, true)) {
    at--;
  }
  at = index + 1;
  while (at < lines.length && visit(at, false)) {
    at++;
  }
  return found;
}
