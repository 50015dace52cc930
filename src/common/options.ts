/** Arguments of jobs by their options. */

/**
 * Return the arguments of a job by option: `--lr 0.1` and `--lr=0.1` are the same. An option without a value is “yes”;
 * other words are numbered.
 *
 * @param args - The words of the command line.
 * @param positional - Returns the name of the word with a number, from 1.
 */
export function optionsOf(
  args: readonly string[],
  positional: (number: number) => string
): Record<string, string> {
  const found = new Map<string, string>();
  let count = 0;
  const put = (name: string, value: string): void => {
    const before = found.get(name);
    found.set(name, before === undefined ? value : `${before}, ${value}`);
  };
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    const joined = /^(--?[^=\s]+)=(.*)$/s.exec(word);
    if (joined) {
      put(joined[1], joined[2]);
    } else if (isOption(word)) {
      const values: string[] = [];
      while (at + 1 < args.length && !isOption(args[at + 1])) {
        values.push(args[++at]);
      }
      put(word, values.length > 0 ? values.join(' ') : 'yes');
    } else {
      put(positional(++count), word);
    }
  }
  return Object.fromEntries(found);
}

/** Return true for `-x` and `--name`; a negative number is a value. */
function isOption(word: string): boolean {
  return /^--?[A-Za-z]/.test(word);
}
