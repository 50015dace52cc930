/** Filters as functions of rows. */
import { Fields, FieldValue, IField, Scalar } from './fields';
import {
  Condition,
  FilterProblem,
  IComparison,
  numberOf,
  Operator,
  parseFilter
} from './parse';

/** Tells if a row matches. */
export type Matches<Row> = (row: Row) => boolean;

/** A condition that all shown rows must match, with its text. */
export interface IPart<Row> {
  text: string;
  matches: Matches<Row>;
  /** The field of a simple comparison; null for other conditions. */
  field: IField<Row> | null;
}

/** A filter that can be applied. */
export interface IFilter<Row> {
  matches: Matches<Row>;
  /** The conditions that `and` joins. */
  parts: readonly IPart<Row>[];
  /** The fields that the conditions name. */
  fields: readonly IField<Row>[];
}

/**
 * Return the filter that a text describes; null for an empty text.
 *
 * @throws FilterProblem
 */
export function readFilter<Row>(
  text: string,
  fields: Fields<Row>
): IFilter<Row> | null {
  const condition = parseFilter(text);
  if (!condition) {
    return null;
  }
  const conditions = condition.kind === 'and' ? condition.parts : [condition];
  const parts = conditions.map(part => ({
    text: text.slice(part.start, part.end),
    matches: compile(part, fields),
    field: 'field' in part ? (fields.find(part.field) ?? null) : null
  }));
  return {
    matches: row => parts.every(part => part.matches(row)),
    parts,
    fields: namesOf(condition).flatMap(name => fields.find(name) ?? [])
  };
}

function namesOf(condition: Condition): string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.parts.flatMap(namesOf);
    case 'not':
      return namesOf(condition.part);
    default:
      return [condition.field];
  }
}

function compile<Row>(condition: Condition, fields: Fields<Row>): Matches<Row> {
  switch (condition.kind) {
    case 'and': {
      const parts = condition.parts.map(part => compile(part, fields));
      return row => parts.every(matches => matches(row));
    }
    case 'or': {
      const parts = condition.parts.map(part => compile(part, fields));
      return row => parts.some(matches => matches(row));
    }
    case 'not': {
      const matches = compile(condition.part, fields);
      return row => !matches(row);
    }
    case 'in': {
      const { read } = fieldOf(condition, fields);
      const { values } = condition;
      return row =>
        each(read(row), value => values.some(one => isSame(value, one)));
    }
    case 'is': {
      const { read } = fieldOf(condition, fields);
      return row => each(read(row), value => value === true);
    }
    case 'compare':
      return compileComparison(condition, fieldOf(condition, fields));
  }
}

function compileComparison<Row>(
  { operator, value: wanted }: IComparison,
  { read }: IField<Row>
): Matches<Row> {
  if (operator === '!=' || operator === '!~') {
    const holds = comparisonOf(operator === '!=' ? '=' : '~', wanted);
    return row => !each(read(row), holds);
  }
  const holds = comparisonOf(operator, wanted);
  return row => each(read(row), holds);
}

function comparisonOf(
  operator: Operator,
  wanted: Scalar
): (value: Scalar) => boolean {
  if (operator === '=') {
    return value => isSame(value, wanted);
  }
  if (operator === '~') {
    const part = String(wanted).toLowerCase();
    return value => String(value).toLowerCase().includes(part);
  }
  const limit = Number(wanted);
  return value => {
    const number = numberOf(value);
    if (number === null) {
      return false;
    }
    switch (operator) {
      case '<':
        return number < limit;
      case '<=':
        return number <= limit;
      case '>':
        return number > limit;
      default:
        return number >= limit;
    }
  };
}

/** Return true if a test holds for the value of a field, or for one of its values. */
function each(value: FieldValue, holds: (value: Scalar) => boolean): boolean {
  if (value === undefined) {
    return false;
  }
  return Array.isArray(value) ? value.some(holds) : holds(value as Scalar);
}

/** Compare numbers by value, and everything else as text. */
function isSame(value: Scalar, wanted: Scalar): boolean {
  const [one, other] = [numberOf(value), numberOf(wanted)];
  return one !== null && other !== null
    ? one === other || (Number.isNaN(one) && Number.isNaN(other))
    : value === wanted ||
        (value !== null && wanted !== null && String(value) === String(wanted));
}

function fieldOf<Row>(
  { field, fieldPlace }: Extract<Condition, { field: string }>,
  fields: Fields<Row>
): IField<Row> {
  const found = fields.find(field);
  if (!found) {
    const suggestion = fields.similar(field);
    throw new FilterProblem('unknown', fieldPlace, field, suggestion);
  }
  return found;
}
