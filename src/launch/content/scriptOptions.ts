/** The options of a script's parser as fields, and a job's arguments as their values. */
import { ScriptOption } from '../../api/types';
import { joinWords, splitWords } from '../../common/shellWords';

/** Value of an option: a boolean for a flag, else a text. The items of a list are quoted as in a shell. */
export type OptionValue = string | boolean;

/** Values by `optionKey`. Options without an entry have their default. */
export type OptionValues = Readonly<Record<string, OptionValue>>;

/** An option that was found in the arguments. */
interface ITakenOption {
  /** Its `optionKey`. */
  key: string;
  value: OptionValue;
  /** Index after its last argument. */
  end: number;
}

/** Return the key of an option: its first flag, or the destination of a positional argument, after its subcommand. */
export function optionKey(option: ScriptOption): string {
  const name = option.flags[0] ?? option.dest;
  return option.command === null ? name : `${option.command} ${name}`;
}

/** Return what is typed before an option's value: its first flag, or the name of a positional argument. */
export function optionName(option: ScriptOption): string {
  return option.flags[0] ?? option.dest;
}

/** Return the options that the script has with the chosen subcommand. */
export function activeOptions(
  options: readonly ScriptOption[],
  values: OptionValues
): readonly ScriptOption[] {
  if (!options.some(option => option.is_command)) {
    return options;
  }
  const chosen = new Set<string | null>([null]);
  let choice = commandChoice(options, null);
  while (choice) {
    const value = values[optionKey(choice)];
    const next =
      typeof value === 'string' && choice.choices.includes(value)
        ? commandPath(choice, value)
        : null;
    choice = next === null ? undefined : commandChoice(options, next);
    if (next !== null) {
      chosen.add(next);
    }
  }
  return options.filter(option => chosen.has(option.command));
}

/** Return the option that chooses a subcommand of a command; null stands for the script itself. */
function commandChoice(
  options: readonly ScriptOption[],
  command: string | null
): ScriptOption | undefined {
  return options.find(
    option => option.is_command && option.command === command
  );
}

/** Return the names of a subcommand and of those around it, separated by spaces. */
function commandPath(choice: ScriptOption, value: string): string {
  return choice.command === null ? value : `${choice.command} ${value}`;
}

/** Return an option's default; null if it can't be read from the script's source. */
export function defaultValue(option: ScriptOption): OptionValue | null {
  if (option.kind !== 'flag') {
    return option.default;
  }
  if (option.off_flag === null && option.syntax === 'separate') {
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
  if (option.kind === 'list') {
    const { words, error } = splitWords(text);
    return (
      error === null &&
      (words ?? []).every(word => isValueOf(option.item_kind, word))
    );
  }
  return isValueOf(option.kind, text);
}

/** Return true if Python's `int()` or `float()` accepts a text; true for kinds that are no numbers. */
function isValueOf(kind: ScriptOption['kind'], text: string): boolean {
  switch (kind) {
    case 'int':
      // torchrun replaces ${local_rank} by a number.
      return (
        text.trim() === '${local_rank}' || /^\s*[+-]?\d+(_\d+)*\s*$/.test(text)
      );
    case 'float':
      return /^\s*[+-]?(((\d+(_\d+)*\.?|\.\d)[\d_]*(e[+-]?\d+)?)|inf(inity)?|nan)\s*$/i.test(
        text
      );
    default:
      return true;
  }
}

/**
 * Split arguments into values of known options and remaining arguments, as argparse does.
 *
 * Repeated options and values that a field can't show stay in the remaining arguments, so no argument is lost. A
 * subcommand that follows such arguments stays there too: it must not move before them.
 */
export function parseArgs(
  args: readonly string[],
  options: readonly ScriptOption[]
): { values: Record<string, OptionValue>; more: string[] } {
  const values: Record<string, OptionValue> = {};
  const more: string[] = [];
  let command: string | null = null;
  let known = options.filter(option => option.command === command);
  let positionals = known.filter(option => !option.flags.length);
  let i = 0;
  let moreEnd = 0; // the index after the last word that went to `more`
  while (i < args.length) {
    const arg = args[i];
    if (arg === '--') {
      more.push(...args.slice(i));
      break;
    }
    const taken = takeOption(args, i, known);
    const [next] = positionals;
    if (more.length && next?.is_command && next.choices.includes(arg)) {
      more.push(...args.slice(i));
      break;
    }
    if (!taken && !isFlag(arg)) {
      // After an unknown flag, the word may be the value of that flag.
      const option =
        more.length && moreEnd === i ? undefined : positionals.shift();
      if (option?.is_command && option.choices.includes(arg)) {
        values[optionKey(option)] = arg;
        const path = commandPath(option, arg);
        command = path;
        known = options.filter(one => one.command === path);
        positionals = known.filter(one => !one.flags.length);
      } else if (option?.kind === 'list') {
        const end = itemsEnd(args, i, option);
        values[optionKey(option)] = joinWords(args.slice(i, end));
        i = end;
        continue;
      } else if (option && !option.is_command && arg) {
        values[optionKey(option)] = arg;
      } else {
        more.push(arg);
        moreEnd = i + 1;
      }
      i += 1;
      continue;
    }
    if (taken && !(taken.key in values)) {
      values[taken.key] = taken.value;
    } else {
      moreEnd = taken?.end ?? i + 1;
      more.push(...args.slice(i, moreEnd));
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
): ITakenOption | null {
  const [, name, attached] = /^([^=]+)(?:=([^]*))?$/.exec(args[start]) ?? [];
  const option = options.find(({ flags }) => flags.includes(name));
  if (!option) {
    const off = options.find(({ off_flag }) => off_flag === args[start]);
    return off ? { key: optionKey(off), value: false, end: start + 1 } : null;
  }
  const key = optionKey(option);
  if (option.syntax !== 'separate') {
    return attached ? takeAttached(option, attached, start) : null;
  }
  if (option.kind === 'flag') {
    return takeFlag(option, attached, args[start + 1], start);
  }
  if (option.kind === 'list') {
    const end =
      attached === undefined ? itemsEnd(args, start + 1, option) : start + 1;
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

/** Return the index after the items of a list that begin at an index. */
function itemsEnd(
  args: readonly string[],
  start: number,
  { items }: ScriptOption
): number {
  const last = Math.min(args.length, start + (items ?? args.length));
  let end = start;
  while (end < last && !isFlag(args[end])) {
    end += 1;
  }
  return end;
}

/** Return the value of an option that is given as `--x=value` or `x=value`; null if it is not valid for the option. */
function takeAttached(
  option: ScriptOption,
  text: string,
  start: number
): ITakenOption | null {
  const value = option.kind === 'flag' ? truthValue(text) : text;
  return value === null
    ? null
    : { key: optionKey(option), value, end: start + 1 };
}

/** Return the value of a flag, which may be followed by True or False if its value is optional. */
function takeFlag(
  option: ScriptOption,
  attached: string | undefined,
  next: string | undefined,
  start: number
): ITakenOption | null {
  const key = optionKey(option);
  const given =
    option.value_optional && option.off_flag !== null
      ? truthValue(attached ?? next ?? '')
      : null;
  if (given !== null) {
    return { key, value: given, end: start + (attached === undefined ? 2 : 1) };
  }
  return attached === undefined ? { key, value: true, end: start + 1 } : null;
}

/** Return the boolean that Python's `True` or `False` stands for, in any case; null for other texts. */
function truthValue(text: string): boolean | null {
  const word = text.toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : null;
}

/** Return true if a word is a flag for argparse. Negative numbers and `-` are values. */
export function isFlag(word: string): boolean {
  return /^-/.test(word) && word !== '-' && !/^-\.?\d/.test(word);
}
