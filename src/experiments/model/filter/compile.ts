/** Filters as functions of runs. */
import { Fields, FieldValue, IField } from '../fields';
import { IRunRow, Scalar } from '../../types';
import {
  Condition,
  FilterProblem,
  IComparison,
  numberOf,
  Operator,
  parseFilter
} from './parse';

/** Tells if a run matches. */
export type Matches = (run: IRunRow) => boolean;

/** A condition that all shown runs must match, with its text. */
export interface IPart {
  text: string;
  matches: Matches;
  /** The field of a simple comparison; null for other conditions. */
  field: IField | null;
}

/** A filter that can be applied. */
export interface IFilter {
  matches: Matches;
  /** The conditions that `and` joins. */
  parts: readonly IPart[];
  /** The fields that the conditions name. */
  fields: readonly IField[];
}

/**
 * Return the filter that a text describes; null for an empty text.
 *
 * @throws FilterProblem
 */
export function readFilter(text: string, fields: Fields): IFilter | null {
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
    matches: run => parts.every(part => part.matches(run)),
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

function compile(condition: Condition, fields: Fields): Matches {
  switch (condition.kind) {
    case 'and': {
      const parts = condition.parts.map(part => compile(part, fields));
      return run => parts.every(matches => matches(run));
    }
    case 'or': {
      const parts = condition.parts.map(part => compile(part, fields));
      return run => parts.some(matches => matches(run));
    }
    case 'not': {
      const matches = compile(condition.part, fields);
      return run => !matches(run);
    }
    case 'in': {
      const { read } = fieldOf(condition, fields);
      const { values } = condition;
      return run =>
        each(read(run), value => values.some(one => isSame(value, one)));
    }
    case 'is': {
      const { read } = fieldOf(condition, fields);
      return run => each(read(run), value => value === true);
    }
    case 'compare':
      return compileComparison(condition, fieldOf(condition, fields));
  }
}

function compileComparison(
  { operator, value: wanted }: IComparison,
  { read }: IField
): Matches {
  if (operator === '!=' || operator === '!~') {
    const holds = comparisonOf(operator === '!=' ? '=' : '~', wanted);
    return run => !each(read(run), holds);
  }
  const holds = comparisonOf(operator, wanted);
  return run => each(read(run), holds);
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

function fieldOf(
  { field, fieldPlace }: Extract<Condition, { field: string }>,
  fields: Fields
): IField {
  const found = fields.find(field);
  if (!found) {
    const suggestion = fields.similar(field);
    throw new FilterProblem('unknown', fieldPlace, field, suggestion);
  }
  return found;
}
