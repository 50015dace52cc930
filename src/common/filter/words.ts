/** Words of a filter expression. */

/** A word of an expression with its place in the text. */
export interface IWord {
  kind: 'name' | 'value' | 'operator' | 'keyword' | 'mark' | 'unclosed';
  /** The word as a value: quotes are removed, keywords and operators have one spelling. */
  text: string;
  start: number;
  end: number;
}

const KEYWORDS = new Set(['and', 'or', 'not', 'in']);

const WORD = /<=|>=|==|!=|!~|[<>=~]|[()[\],]|[^\s()[\],<>=~!"'`]+|\S/g;

/** Return the words of an expression. A quote that is not closed takes the rest of the text. */
export function wordsOf(text: string): IWord[] {
  const words: IWord[] = [];
  let at = 0;
  while (at < text.length) {
    WORD.lastIndex = at;
    const match = WORD.exec(text);
    if (!match) {
      break;
    }
    const start = match.index;
    const word = readWord(text, start, match[0]);
    words.push(word);
    at = word.end;
  }
  return words;
}

function readWord(text: string, start: number, found: string): IWord {
  const end = start + found.length;
  if (/^["'`]$/.test(found)) {
    const close = text.indexOf(found, end);
    const kind = found === '`' ? 'name' : 'value';
    return close < 0
      ? { kind: 'unclosed', text: text.slice(end), start, end: text.length }
      : { kind, text: text.slice(end, close), start, end: close + 1 };
  }
  const word = (kind: IWord['kind'], value = found): IWord => ({
    kind,
    text: value,
    start,
    end
  });
  if (/^[()[\],]$/.test(found)) {
    return word('mark');
  }
  if (/^(<=|>=|==|!=|!~|[<>=~])$/.test(found)) {
    return word('operator', found === '==' ? '=' : found);
  }
  const small = found.toLowerCase();
  return KEYWORDS.has(small) ? word('keyword', small) : word('name');
}
