/** The words that positional arguments get. */
import { ScriptOption } from '../../../api/types';
import { splitWords } from '../../../common/shellWords';
import {
  isGiven,
  optionKey,
  OptionValue,
  OptionValues
} from '../scriptOptions';

/** Return the fewest and the most words that a positional argument takes. */
function wordsOf(option: ScriptOption): readonly [number, number] {
  if (option.is_command) {
    return [1, Infinity]; // the name, and all words of the subcommand
  }
  return option.kind === 'list' && option.items !== null
    ? [option.items, option.items]
    : [option.required ? 1 : 0, option.kind === 'list' ? Infinity : 1];
}

/**
 * Return how many of the words that stand in a row each positional argument gets, as argparse shares them out.
 *
 * Each takes as many words as the later ones can spare. The last ones get no entry if the words do not suffice for all.
 */
export function shareWords(
  positionals: readonly ScriptOption[],
  count: number
): number[] {
  const limits: (readonly [number, number])[] = [];
  let free = count;
  for (const option of positionals) {
    const limit = wordsOf(option);
    if (limit[0] > free) {
      break;
    }
    limits.push(limit);
    free -= limit[0];
  }
  return limits.map(([least, most]) => {
    const words = Math.min(most, least + free);
    free -= words - least;
    return words;
  });
}

/** The positional arguments of a script or a subcommand, and the words that they have got. */
export class Positionals {
  constructor(private readonly _options: readonly ScriptOption[]) {}

  /** Index of their first word in the arguments; null before it. */
  start: number | null = null;

  /** The positional arguments that still take words. */
  get open(): readonly ScriptOption[] {
    return this._options.slice(this._taken.length);
  }

  /** Take words that stand in a row; return the number that each of the `open` ones gets. */
  take(count: number): number[] {
    const shares = shareWords(this.open, count);
    this._taken.push(...shares);
    this._count += count;
    return shares;
  }

  /** Return true if the taken words are shared out in the same way if they and some more words stand in a row. */
  holds(more = 0): boolean {
    const shares = shareWords(this._options, this._count + more);
    return this._taken.every((words, index) => words === shares[index]);
  }

  /** Return true if there are enough positional arguments for the taken words and some more. */
  canTake(more: number): boolean {
    const most = this._options.map(option => wordsOf(option)[1]);
    return this._count + more <= most.reduce((sum, one) => sum + one, 0);
  }

  private readonly _taken: number[] = [];
  private _count = 0;
}

/** A positional argument that would get the value of a later one. */
export interface IClash {
  taker: ScriptOption;
  /** False if `taker` has no value. */
  isGiven: boolean;
  owner: ScriptOption;
}

/** Return the words of a positional argument's value. */
export function positionalWords(
  option: ScriptOption,
  value: OptionValue
): string[] {
  return option.kind === 'list' && typeof value === 'string'
    ? (splitWords(value).words ?? [])
    : [String(value)];
}

/**
 * Return the values of a command's positional arguments that are given. Values that equal their default are omitted
 * unless later values would then be taken for them.
 *
 * @param positionals - The positional arguments of the command, in order.
 * @param tail - Number of words after the name of the subcommand.
 */
export function placePositionals(
  positionals: readonly ScriptOption[],
  values: OptionValues,
  tail: number
): { given: Map<ScriptOption, OptionValue>; clash: IClash | null } {
  const given = new Map<ScriptOption, OptionValue>();
  const filled = new Map<ScriptOption, OptionValue>();
  const last = positionals
    .map(option => isGiven(option, values))
    .lastIndexOf(true);
  for (const option of positionals.slice(0, last + 1)) {
    if (isGiven(option, values)) {
      given.set(option, values[optionKey(option)]);
      filled.set(option, values[optionKey(option)]);
    } else if (!option.required && option.default !== null) {
      filled.set(option, option.default);
    }
  }
  // An option under a condition may not exist in this run.
  return positionals.some(({ condition }) => condition !== null) ||
    !clashOf(positionals, given, tail)
    ? { given, clash: null }
    : { given: filled, clash: clashOf(positionals, filled, tail) };
}

/** Return the first positional argument that would get words of a later one; null if none would. */
function clashOf(
  positionals: readonly ScriptOption[],
  given: ReadonlyMap<ScriptOption, OptionValue>,
  tail: number
): IClash | null {
  const counts = positionals.map(option => {
    const value = given.get(option);
    return value === undefined ? 0 : positionalWords(option, value).length;
  });
  const count = counts.reduce((sum, one) => sum + one, tail);
  for (const [index, share] of shareWords(positionals, count).entries()) {
    const taker = positionals[index];
    const owner = positionals.find((_, at) => at > index && counts[at] > 0);
    if (taker.is_command || !owner || share < counts[index]) {
      return null;
    }
    if (share > counts[index]) {
      return { taker, isGiven: counts[index] > 0, owner };
    }
  }
  return null;
}
