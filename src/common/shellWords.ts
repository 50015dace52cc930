/** Words as a POSIX shell would take them; nothing is ever expanded. */

/** Why a text can't be split: a quote that is not closed, or a backslash at the end. */
export type WordsError = 'quote' | 'backslash';

/** The words of a text, or why there are none. */
export type Words =
  { words: string[]; error: null } | { words: null; error: WordsError };

const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * Split a text into words by the quoting rules of a shell.
 * `$`, `*`, `~`, `;` and the like mean themselves: no shell will see them.
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
      // A backslash before a line's end joins the lines.
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

/** A text that `splitWords`, or a shell, splits into these words again. */
export function joinWords(words: readonly string[]): string {
  return words
    .map(word => (PLAIN.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`))
    .join(' ');
}
