/** The arguments of a job, from the values of its script's options. */
import { ScriptOption } from '../../../api/types';
import { splitWords } from '../../../common/shellWords';
import {
  activeOptions,
  isFlag,
  isGiven,
  isPositional,
  optionKey,
  optionName,
  OptionValue,
  OptionValues
} from '../scriptOptions';
import { IClash, placePositionals, positionalWords } from './positionals';

/** Arguments and the field of each argument. */
export interface IComposedArgs {
  /** Arguments as a process gets them. */
  args: string[];
  /** The `optionKey` of each argument; null for arguments from “More arguments”. */
  fields: (string | null)[];
  /** Positional arguments that would get values of others. */
  clashes: IClash[];
}

/** Some arguments and their field. */
type ArgsPart = readonly [string | null, readonly string[]];

/**
 * Return the arguments for values of options and further arguments. Optional values that equal their default are
 * omitted, except positional arguments whose place later ones would take.
 *
 * @param more - Further arguments. They come last, but their first words come before a list, which would take them.
 */
export function composeArgs(
  options: readonly ScriptOption[],
  values: OptionValues,
  more: readonly string[]
): IComposedArgs {
  const active = activeOptions(options, values);
  const given = active.filter(option => isGiven(option, values));
  const flagAt = more.findIndex(isFlag);
  const words = flagAt < 0 ? more : more.slice(0, flagAt);
  // The options of a command come before the name of its subcommand.
  const commands = [...new Set(given.map(option => option.command))];
  const clashes: IClash[] = [];
  let parts: ArgsPart[] = [];
  // From the last command to the first, whose positional arguments depend on the words that follow.
  for (const command of [...commands].reverse()) {
    const isOwn = (option: ScriptOption): boolean => option.command === command;
    const following = parts.flatMap(([, args]) => args);
    const tail = following.findIndex(isFlag);
    const placed = placePositionals(
      active.filter(option => isOwn(option) && isPositional(option)),
      values,
      tail < 0 ? following.length : tail
    );
    clashes.push(...(placed.clash ? [placed.clash] : []));
    const own = active.filter(
      option =>
        isOwn(option) &&
        (isPositional(option)
          ? placed.given.has(option)
          : given.includes(option))
    );
    const all = {
      ...values,
      ...Object.fromEntries(
        [...placed.given].map(([option, value]) => [optionKey(option), value])
      )
    };
    const isLast = command === commands[commands.length - 1];
    parts = [...commandParts(own, options, all, isLast ? words : []), ...parts];
  }
  parts.push([null, commands.length ? more.slice(words.length) : more]);
  return {
    args: parts.flatMap(([, args]) => args),
    fields: parts.flatMap(([field, args]) => args.map(() => field)),
    clashes
  };
}

/**
 * Return the arguments of one command in their order.
 *
 * @param own - The command's options that are given.
 * @param words - The first further arguments, which are no flags.
 */
function commandParts(
  own: readonly ScriptOption[],
  options: readonly ScriptOption[],
  values: OptionValues,
  words: readonly string[]
): ArgsPart[] {
  const part = (option: ScriptOption): ArgsPart => [
    optionKey(option),
    composeOption(option, values[optionKey(option)])
  ];
  const choice = own.filter(option => option.is_command);
  const positional = own.filter(one => !one.flags.length && !one.is_command);
  const named = own.filter(option => option.flags.length);
  const open = named.filter(one => takesNextWord(one, part(one)[1]));
  const further: ArgsPart[] = words.length ? [[null, words]] : [];
  if (!open.length) {
    return [...[...named, ...positional, ...choice].map(part), ...further];
  }
  if (!choice.length) {
    return [...positional.map(part), ...further, ...named.map(part)];
  }
  const closed = named.filter(option => !open.includes(option)).map(part);
  const before = [...positional, ...open].map(part);
  if (!closed.length) {
    const [key, [flag, ...items]] = before[before.length - 1];
    if (items.length === 1 && flag.startsWith('--')) {
      before[before.length - 1] = [key, [`${flag}=${items[0]}`]];
    } else {
      closed.push(...separator(own, options));
    }
  }
  return [...before, ...closed, ...choice.map(part), ...further];
}

/** Return true if argparse takes a word after an option's arguments for one more value of the option. */
function takesNextWord(
  option: ScriptOption,
  words: readonly string[]
): boolean {
  return (
    option.syntax === 'separate' &&
    ((option.kind === 'list' && option.items === null) ||
      (option.value_optional &&
        words.length === 1 &&
        words[0] === optionName(option)))
  );
}

/** Return the arguments between a list and a subcommand, which the list would take: an option with its default. */
function separator(
  own: readonly ScriptOption[],
  options: readonly ScriptOption[]
): ArgsPart[] {
  const one = options.find(
    option =>
      option.command === own[0].command &&
      option.flags.length > 0 &&
      !own.includes(option) &&
      option.syntax === 'separate' &&
      ['text', 'int', 'float', 'choice'].includes(option.kind) &&
      !option.repeatable &&
      option.exclusive === null &&
      option.condition === null
  );
  return one?.default
    ? [[optionKey(one), composeOption(one, one.default)]]
    : [];
}

/** Return the arguments of one option. */
function composeOption(option: ScriptOption, value: OptionValue): string[] {
  const key = optionName(option);
  if (option.syntax !== 'separate') {
    const text =
      typeof value === 'boolean' ? (value ? 'True' : 'False') : value;
    return [`${key}=${text}`];
  }
  if (typeof value === 'boolean') {
    return value ? [key] : option.off_flag ? [option.off_flag] : [];
  }
  if (!option.flags.length) {
    return positionalWords(option, value);
  }
  if (option.kind === 'list') {
    return [key, ...(splitWords(value).words ?? [])];
  }
  // argparse takes a separate value that begins with a dash for another option, unless it is a plain number.
  if (!/^-./.test(value) || /^-(\d+|\d*\.\d+)$/.test(value)) {
    return [key, value];
  }
  return key.startsWith('--') ? [`${key}=${value}`] : [`${key}${value}`];
}
