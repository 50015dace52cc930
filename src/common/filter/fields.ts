/** Fields of rows that filters name. */

/** A value of a field. */
export type Scalar = number | string | boolean | null;

/** Value of a field; a list for fields with several values, undefined without a value. */
export type FieldValue = Scalar | readonly string[] | undefined;

/** A field that a filter can name. */
export interface IField<Row> {
  /** Name in filters and column heads. */
  name: string;
  /** Kind of the field, such as `metrics`. */
  group: string;
  /** Number of rows that have the field; 0 for the fields of every row. Fields of more rows are offered first. */
  rows: number;
  read(row: Row): FieldValue;
}

/** The fields of the rows of a table. */
export class Fields<Row> {
  constructor(fields: Iterable<IField<Row>>) {
    for (const field of fields) {
      if (!this._fields.has(field.name)) {
        this._fields.set(field.name, field);
      }
    }
  }

  /** All fields, in the order of the constructor. */
  get all(): readonly IField<Row>[] {
    return [...this._fields.values()];
  }

  /** Return a field by its name. */
  find(name: string): IField<Row> | undefined {
    return this._fields.get(name);
  }

  /** Return the name that is most similar to a name that no row has; null if none is similar. */
  similar(name: string): string | null {
    const most = Math.max(1, Math.floor(name.length / 3));
    let best: string | null = null;
    let least = most + 1;
    for (const known of this._fields.keys()) {
      const distance = editDistance(name.toLowerCase(), known.toLowerCase());
      if (distance < least) {
        [best, least] = [known, distance];
      }
    }
    return best;
  }

  private readonly _fields = new Map<string, IField<Row>>();
}

/** Return the number of letters to insert, delete or replace to get from one word to another. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 8) {
    return Infinity;
  }
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[to.length];
}
