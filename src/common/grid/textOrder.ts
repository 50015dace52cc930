/** Order of texts: without case, and numbers in texts by value. */

// The collator is created once: `localeCompare` without one takes about a hundred times as long.
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Compares two texts for sorting. */
export type CompareTexts = (a: string, b: string) => number;

/** Compare texts by the collator, which takes all characters. */
export const collate: CompareTexts = (a, b) => COLLATOR.compare(a, b);

/** Compare texts, such as sort keys, by their code units. */
export const compareCodes: CompareTexts = (a, b) =>
  a < b ? -1 : a > b ? 1 : 0;

/**
 * Return a text whose code units have the order of another text: without case, and numbers in it by value.
 *
 * The collator takes half a microsecond for a pair, and sorting 10 000 rows compares 130 000 pairs.
 *
 * @returns Null for texts that only the collator can compare.
 */
export function sortKey(text: string): string | null {
  return /^[ -~]*$/.test(text)
    ? text.toLowerCase().replace(/\d+/g, digits => digits.padStart(20, '0'))
    : null;
}

/**
 * Return values whose texts are replaced by what they are sorted by, and how that is compared.
 *
 * Equal texts are not looked up: a map of 10 000 texts takes longer than their keys.
 */
export function textOrder<Value>(values: readonly Value[]): {
  values: readonly (Value | string)[];
  compare: CompareTexts;
} {
  const keys: (Value | string)[] = [];
  for (const value of values) {
    const key = typeof value === 'string' ? sortKey(value) : value;
    if (key === null && value !== null) {
      return { values, compare: collate };
    }
    keys.push(key as Value | string);
  }
  return { values: keys, compare: compareCodes };
}
