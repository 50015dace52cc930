/** Splitting and joining of words by the quoting rules of a POSIX shell, without expansion. */

/** Why a text cannot be split: a quote is not closed, or the text ends with a backslash. */
export type WordsError = 'quote' | 'backslash';

/** The words of a text, or the error. */
export type Words =
  { words: string[]; error: null } | { words: null; error: WordsError };

/** Words that need no quotes. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * Split a text into words by the quoting rules of a shell.
 *
 * `$`, `*`, `~`, `;` and other special characters are literal, because no shell runs the command.
 */
export function splitWords(text: string): Words {
  const words: string[] = [];
  let word: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (/\s/.test(char)) {
      if (word !== null) {
        words.push(word);
        word = null;
      }
    } else if (char === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) {
        return { words: null, error: 'quote' };
      }
      word = (word ?? '') + text.slice(i + 1, end);
      i = end;
    } else if (char === '"') {
      const quoted = doubleQuoted(text, i + 1);
      if (!quoted) {
        return { words: null, error: 'quote' };
      }
      word = (word ?? '') + quoted.content;
      i = quoted.end;
    } else if (char === '\\') {
      i += 1;
      if (i === text.length) {
        return { words: null, error: 'backslash' };
      }
      // A backslash at the end of a line continues the line.
      word = text[i] === '\n' ? word : (word ?? '') + text[i];
    } else {
      word = (word ?? '') + char;
    }
  }
  if (word !== null) {
    words.push(word);
  }
  return { words, error: null };
}

/**
 * Return the content of a double-quoted string and the position of its closing quote; null if the quote is not
 * closed.
 */
function doubleQuoted(
  text: string,
  start: number
): { content: string; end: number } | null {
  let content = '';
  for (let i = start; i < text.length; i++) {
    if (text[i] === '"') {
      return { content, end: i };
    }
    if (text[i] === '\\' && '\\"$`\n'.includes(text[i + 1] ?? ' ')) {
      i += 1;
      content += text[i] === '\n' ? '' : text[i];
    } else {
      content += text[i];
    }
  }
  return null;
}

/** Return a text that `splitWords`, or a shell, splits into the given words. */
export function joinWords(words: readonly string[]): string {
  return words
    .map(word => (PLAIN.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`))
    .join(' ');
}
