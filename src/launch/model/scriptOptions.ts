/** Options of a script's argparse parser as fields, and the conversion between arguments and fields. */
import { ScriptOption } from '../../api/types';
import { joinWords, splitWords } from '../../common/shellWords';

/** The state of a flag, or the text of another option; a list is quoted as for a shell. */
export type OptionValue = string | boolean;

/** Values by `optionKey`; an option without a value has its default. */
export type OptionValues = Readonly<Record<string, OptionValue>>;

/** Arguments, each with the field that it comes from. */
export interface IComposedArgs {
  args: string[];
  /** The `optionKey` of each argument; null for one that was typed as “more arguments”. */
  fields: (string | null)[];
}

/** Return the key of an option: its first flag, or the destination of a positional argument. */
export function optionKey(option: ScriptOption): string {
  return option.flags[0] ?? option.dest;
}

/** Return an option's default; null if the script's text does not contain it. */
export function defaultValue(option: ScriptOption): OptionValue | null {
  if (option.kind !== 'flag') {
    return option.default;
  }
  if (option.off_flag === null) {
    return false; // a flag that is not given
  }
  return option.default === null ? null : option.default === 'True';
}

/** Return true if an option has a value other than its default. */
export function isChanged(option: ScriptOption, values: OptionValues): boolean {
  const key = optionKey(option);
  return key in values && values[key] !== defaultValue(option);
}

/** Return true if Python's `int()` or `float()` accepts a text, or if a list's quotes are closed. */
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
 * Split arguments into values of known options and the rest, as argparse does.
 *
 * Arguments that are given twice, or that a field can't show, stay in the rest, so that nothing is lost.
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
      // After an unknown flag the word may be the flag's value.
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

/** Join values and further arguments; a value is left out if it is optional and equals its default. */
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
  // A list takes the positional argument that follows it.
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
  // argparse reads a value that begins with a dash as another option.
  return isFlag(value) ? [`${key}=${value}`] : [key, value];
}

function isFlag(word: string): boolean {
  return /^-/.test(word) && word !== '-' && !/^-\.?\d/.test(word);
}
