/** Completion of names in filter expressions. */
import { Fields, IField } from './fields';
import { numberOf } from './parse';
import { wordsOf } from './words';

/** A name that can be inserted. */
export interface IProposal {
  name: string;
  /** The least and the greatest number among the rows; null if the field has no numbers. */
  range: [number, number] | null;
}

/** Proposals for a place in a text. */
export interface ICompletion {
  /** The part of the text that a proposal replaces. */
  start: number;
  end: number;
  proposals: readonly IProposal[];
}

/** Most proposals that are offered. */
const MOST = 8;

/**
 * Return the names that fit to the word before the cursor; null where no name is expected.
 *
 * @param cursor - Position of the cursor in the text.
 */
export function complete<Row>(
  text: string,
  cursor: number,
  fields: Fields<Row>,
  rows: readonly Row[]
): ICompletion | null {
  const words = wordsOf(text);
  const index = words.findIndex(
    ({ kind, start, end }) => kind === 'name' && start < cursor && cursor <= end
  );
  const before = words[index - 1];
  if (
    index < 0 ||
    before?.kind === 'operator' ||
    before?.kind === 'name' ||
    before?.kind === 'value' ||
    before?.text === ',' ||
    (before?.text === '(' && words[index - 2]?.text === 'in')
  ) {
    return null;
  }
  const { start, end } = words[index];
  const typed = text.slice(start, cursor).toLowerCase();
  const found = fields.all
    .filter(({ name }) => name.toLowerCase().includes(typed))
    .sort(
      (a, b) =>
        Number(b.name.toLowerCase().startsWith(typed)) -
          Number(a.name.toLowerCase().startsWith(typed)) || b.rows - a.rows
    )
    .slice(0, MOST);
  if (found.length === 0 || (found.length === 1 && found[0].name === typed)) {
    return null;
  }
  const proposals = found.map(field => ({
    name: field.name,
    range: rangeOf(rows, field)
  }));
  return { start, end, proposals };
}

/** Return a name as an expression writes it: in backticks if it has other characters than names have. */
export function writeName(name: string): string {
  return /^[^\s()[\],<>=~!"'`]+$/.test(name) && !/^(and|or|not|in)$/i.test(name)
    ? name
    : `\`${name}\``;
}

/** Return a value as an expression writes it. */
export function writeValue(value: string): string {
  return /^[^\s()[\],<>=~!"'`]+$/.test(value) &&
    !/^(and|or|not|in|none|null|true|false)$/i.test(value) &&
    numberOf(value) === null
    ? value
    : value.includes('"')
      ? `'${value}'`
      : `"${value}"`;
}

/** Ranges of fields, by the rows. Each key that is typed asks for the ranges of several fields. */
const RANGES = new WeakMap<
  readonly unknown[],
  WeakMap<object, IProposal['range']>
>();

function rangeOf<Row>(
  rows: readonly Row[],
  field: IField<Row>
): IProposal['range'] {
  const known = RANGES.get(rows) ?? new WeakMap<object, IProposal['range']>();
  RANGES.set(rows, known);
  let range = known.get(field);
  if (range === undefined) {
    let [least, greatest] = [Infinity, -Infinity];
    for (const row of rows) {
      const value = numberOf(field.read(row));
      if (value !== null && Number.isFinite(value)) {
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
      }
    }
    range = least <= greatest ? [least, greatest] : null;
    known.set(field, range);
  }
  return range;
}
