/** Parser of filter expressions: `lr < 0.01 and (model in (vit, resnet) or not run.tag = baseline)`. */
import { Scalar } from './fields';
import { IWord, wordsOf } from './words';

/** Operators that compare a field with one value. */
export type Operator = '<' | '<=' | '>' | '>=' | '=' | '!=' | '~' | '!~';

interface IPlace {
  start: number;
  end: number;
}

/** A condition on a field. */
export interface IComparison extends IPlace {
  kind: 'compare';
  field: string;
  fieldPlace: IPlace;
  operator: Operator;
  value: Scalar;
}

/** A condition of a filter. */
export type Condition =
  | (IPlace & { kind: 'and' | 'or'; parts: Condition[] })
  | (IPlace & { kind: 'not'; part: Condition })
  | (IPlace & {
      kind: 'in';
      field: string;
      fieldPlace: IPlace;
      values: Scalar[];
    })
  | (IPlace & { kind: 'is'; field: string; fieldPlace: IPlace })
  | IComparison;

/** Kind of an error in an expression. `unknown` comes from the runs, all others from the text alone. */
export type ProblemCode =
  | 'name'
  | 'operator'
  | 'value'
  | 'number'
  | 'list'
  | 'close'
  | 'quote'
  | 'extra'
  | 'deep'
  | 'unknown';

/** An error in an expression, with its place. */
export class FilterProblem extends Error {
  /**
   * @param word - The word that is wrong; empty at the end of the text.
   * @param suggestion - The name that the user may have meant.
   */
  constructor(
    readonly code: ProblemCode,
    readonly place: IPlace,
    readonly word: string,
    readonly suggestion: string | null = null
  ) {
    super(code);
  }
}

/** Deepest nesting of parentheses and `not`. */
const DEEPEST = 50;

/**
 * Return the condition that an expression describes; null if the text is empty.
 *
 * @throws FilterProblem
 */
export function parseFilter(text: string): Condition | null {
  const words = wordsOf(text);
  return words.length === 0 ? null : new Parser(words, text.length).parse();
}

class Parser {
  constructor(
    private readonly _words: readonly IWord[],
    private readonly _length: number
  ) {}

  parse(): Condition {
    const condition = this._or(0);
    if (this._next) {
      throw this._problem('extra');
    }
    return condition;
  }

  private _or(depth: number): Condition {
    return this._series('or', () =>
      this._series('and', () => this._not(depth))
    );
  }

  private _series(kind: 'and' | 'or', read: () => Condition): Condition {
    const parts = [read()];
    while (this._take('keyword', kind)) {
      parts.push(read());
    }
    const [{ start }] = parts;
    const { end } = parts[parts.length - 1];
    return parts.length === 1 ? parts[0] : { kind, parts, start, end };
  }

  private _not(depth: number): Condition {
    if (depth > DEEPEST) {
      throw this._problem('deep');
    }
    const { start } = this._next ?? { start: 0 };
    if (this._take('keyword', 'not')) {
      const part = this._not(depth + 1);
      return { kind: 'not', part, start, end: part.end };
    }
    if (this._take('mark', '(')) {
      const inner = this._or(depth + 1);
      const close = this._take('mark', ')');
      if (!close) {
        throw this._problem('close');
      }
      return { ...inner, start, end: close.end };
    }
    return this._comparison();
  }

  private _comparison(): Condition {
    const name = this._take('name');
    if (!name) {
      throw this._problem('name');
    }
    const field = { field: name.text, fieldPlace: placeOf(name) };
    const { start } = name;
    const isNegated =
      this._next?.text === 'not' && this._words[this._at + 1]?.text === 'in';
    if (isNegated) {
      this._at++;
    }
    if (this._take('keyword', 'in')) {
      const { values, end } = this._list();
      const part: Condition = { kind: 'in', ...field, values, start, end };
      return isNegated ? { kind: 'not', part, start, end } : part;
    }
    const operator = this._take('operator');
    if (!operator) {
      if (!this._next || /^(and|or|\))$/.test(this._next.text)) {
        return { kind: 'is', ...field, start, end: name.end };
      }
      throw this._problem('operator');
    }
    const value = this._value();
    if (/^[<>]/.test(operator.text) && typeof value.value !== 'number') {
      throw new FilterProblem('number', value, String(value.value));
    }
    return {
      kind: 'compare',
      ...field,
      operator: operator.text as Operator,
      value: value.value,
      start,
      end: value.end
    };
  }

  private _list(): { values: Scalar[]; end: number } {
    const open = this._take('mark', '(') ?? this._take('mark', '[');
    if (!open) {
      throw this._problem('list');
    }
    const values: Scalar[] = [];
    for (;;) {
      values.push(this._value().value);
      const close = this._take('mark', open.text === '(' ? ')' : ']');
      if (close) {
        return { values, end: close.end };
      }
      if (!this._take('mark', ',')) {
        throw this._problem('close');
      }
    }
  }

  private _value(): IPlace & { value: Scalar } {
    const quoted = this._take('value');
    if (quoted) {
      return { value: quoted.text, ...placeOf(quoted) };
    }
    const bare = this._take('name');
    if (!bare) {
      throw this._problem('value');
    }
    return { value: bareValue(bare.text), ...placeOf(bare) };
  }

  private get _next(): IWord | undefined {
    return this._words[this._at];
  }

  /** Return the next word and go on, if the word has this kind and text. */
  private _take(kind: IWord['kind'], text?: string): IWord | null {
    const word = this._next;
    if (!word || word.kind !== kind || (text ?? word.text) !== word.text) {
      return null;
    }
    this._at++;
    return word;
  }

  private _problem(code: ProblemCode): FilterProblem {
    const word = this._next;
    return word
      ? new FilterProblem(
          word.kind === 'unclosed' ? 'quote' : code,
          placeOf(word),
          word.text
        )
      : new FilterProblem(code, { start: this._length, end: this._length }, '');
  }

  private _at = 0;
}

function placeOf({ start, end }: IWord): IPlace {
  return { start, end };
}

/** Return the value of a word without quotes. */
function bareValue(text: string): Scalar {
  const small = text.toLowerCase();
  if (small === 'true' || small === 'false') {
    return small === 'true';
  }
  if (small === 'none' || small === 'null') {
    return null;
  }
  return numberOf(small) ?? text;
}

/** Return the number that a text or a JSON value stands for; null if it is none. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') {
    return value;
  }
  if (typeof value !== 'string') {
    return null;
  }
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(value);
  if (special) {
    const [, sign, word] = special;
    return /nan/i.test(word) ? NaN : sign === '-' ? -Infinity : Infinity;
  }
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)
    ? Number(value)
    : null;
}
