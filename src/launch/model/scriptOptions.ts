/** Conversion between a job's arguments and the fields for the options of a script's argparse parser. */
import { ScriptOption } from '../../api/types';
import { joinWords, splitWords } from '../../common/shellWords';

/** Value of an option: a boolean for a flag, else a text. The items of a list are quoted as in a shell. */
export type OptionValue = string | boolean;

/** Values by `optionKey`. Options without an entry have their default. */
export type OptionValues = Readonly<Record<string, OptionValue>>;

/** Arguments and the field of each argument. */
export interface IComposedArgs {
  /** Arguments as a process gets them. */
  args: string[];
  /** The `optionKey` of each argument; null for arguments from “More arguments”. */
  fields: (string | null)[];
}

/** Return the key of an option: its first flag, or the destination of a positional argument. */
export function optionKey(option: ScriptOption): string {
  return option.flags[0] ?? option.dest;
}

/** Return an option's default; null if it can't be read from the script's source. */
export function defaultValue(option: ScriptOption): OptionValue | null {
  if (option.kind !== 'flag') {
    return option.default;
  }
  if (option.off_flag === null) {
    return false; // a flag without an off flag is false unless it is given
  }
  return option.default === null ? null : option.default === 'True';
}

/** Return true if an option has a value other than its default. */
export function isChanged(option: ScriptOption, values: OptionValues): boolean {
  const key = optionKey(option);
  return key in values && values[key] !== defaultValue(option);
}

/**
 * Return true if a text is a valid value of an option.
 *
 * Numbers must be accepted by Python's `int()` or `float()`. The quotes in a list must be closed.
 */
export function isAcceptable(option: ScriptOption, text: string): boolean {
  switch (option.kind) {
    case 'int':
      return /^\s*[+-]?\d+(_\d+)*\s*$/.test(text);
    case 'float':
      return /^\s*[+-]?(((\d+(_\d+)*\.?|\.\d)[\d_]*(e[+-]?\d+)?)|inf(inity)?|nan)\s*$/i.test(
        text
      );
    case 'list':
      return splitWords(text).error === null;
    default:
      return true;
  }
}

/**
 * Split arguments into values of known options and remaining arguments, as argparse does.
 *
 * Repeated options and values that a field can't show stay in the remaining arguments, so no argument is lost.
 */
export function parseArgs(
  args: readonly string[],
  options: readonly ScriptOption[]
): { values: Record<string, OptionValue>; more: string[] } {
  const values: Record<string, OptionValue> = {};
  const more: string[] = [];
  const positionals = options.filter(option => !option.flags.length);
  let i = 0;
  while (i < args.length) {
    const arg = args[i];
    if (arg === '--') {
      more.push(...args.slice(i));
      break;
    }
    if (!isFlag(arg)) {
      // After an unknown flag, the word may be the value of that flag.
      const option = more.length ? undefined : positionals.shift();
      if (option && arg) {
        values[optionKey(option)] = arg;
      } else {
        more.push(arg);
      }
      i += 1;
      continue;
    }
    const taken = takeOption(args, i, options);
    if (taken && !(taken.key in values)) {
      values[taken.key] = taken.value;
    } else {
      more.push(...args.slice(i, taken?.end ?? i + 1));
    }
    i = taken?.end ?? i + 1;
  }
  return { values, more };
}

/**
 * Return the option at an index of the arguments with its value; null if it is not a known option or has no value.
 *
 * @param start - Index of the flag.
 * @returns `end` is the index after the option's last argument.
 */
function takeOption(
  args: readonly string[],
  start: number,
  options: readonly ScriptOption[]
): { key: string; value: OptionValue; end: number } | null {
  const [, name, attached] = /^([^=]+)(?:=([^]*))?$/.exec(args[start]) ?? [];
  const option = options.find(({ flags }) => flags.includes(name));
  if (!option) {
    const off = options.find(({ off_flag }) => off_flag === args[start]);
    return off ? { key: optionKey(off), value: false, end: start + 1 } : null;
  }
  const key = optionKey(option);
  if (option.kind === 'flag') {
    return attached === undefined ? { key, value: true, end: start + 1 } : null;
  }
  if (option.kind === 'list') {
    let end = start + 1;
    while (attached === undefined && end < args.length && !isFlag(args[end])) {
      end += 1;
    }
    const items =
      attached === undefined ? args.slice(start + 1, end) : [attached];
    return items.length ? { key, value: joinWords(items), end } : null;
  }
  const value = attached ?? args[start + 1];
  const isValue = attached !== undefined || (value && !isFlag(value));
  return isValue && value
    ? { key, value, end: attached === undefined ? start + 2 : start + 1 }
    : null;
}

/**
 * Return the arguments for values of options and further arguments. Optional values that equal their default are
 * omitted.
 *
 * @param more - Further arguments, which come last.
 */
export function composeArgs(
  options: readonly ScriptOption[],
  values: OptionValues,
  more: readonly string[]
): IComposedArgs {
  const given = options.filter(option =>
    option.required ? optionKey(option) in values : isChanged(option, values)
  );
  const named = given.filter(option => option.flags.length);
  const positional = given.filter(option => !option.flags.length);
  // argparse would add a positional argument to a list before it, so positional arguments come first.
  const order = named.some(option => option.kind === 'list')
    ? [...positional, ...named]
    : [...named, ...positional];
  const result: IComposedArgs = { args: [], fields: [] };
  const add = (field: string | null, words: readonly string[]) => {
    result.args.push(...words);
    result.fields.push(...words.map(() => field));
  };
  for (const option of order) {
    const key = optionKey(option);
    add(key, composeOption(option, values[key]));
  }
  add(null, more);
  return result;
}

/** Return the arguments of one option. */
function composeOption(option: ScriptOption, value: OptionValue): string[] {
  const key = optionKey(option);
  if (typeof value === 'boolean') {
    return value ? [key] : option.off_flag ? [option.off_flag] : [];
  }
  if (!option.flags.length) {
    return [value];
  }
  if (option.kind === 'list') {
    return [key, ...(splitWords(value).words ?? [])];
  }
  // argparse takes a separate value that begins with a dash for another option.
  return isFlag(value) ? [`${key}=${value}`] : [key, value];
}

/** Return true if a word is a flag for argparse. Negative numbers and `-` are values. */
function isFlag(word: string): boolean {
  return /^-/.test(word) && word !== '-' && !/^-\.?\d/.test(word);
}
