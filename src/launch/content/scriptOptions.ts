/** The options of a script's parser as fields, and their values. */
import { ScriptOption } from '../../api/types';
import { splitWords } from '../../common/shellWords';

/** Value of an option: a boolean for a flag, else a text. The items of a list are quoted as in a shell. */
export type OptionValue = string | boolean;

/** Values by `optionKey`. Options without an entry have their default. */
export type OptionValues = Readonly<Record<string, OptionValue>>;

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
export function commandPath(choice: ScriptOption, value: string): string {
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

/** Return true if the arguments contain an option: it is required and has a value, or its value is not the default. */
export function isGiven(option: ScriptOption, values: OptionValues): boolean {
  return option.required
    ? optionKey(option) in values
    : isChanged(option, values);
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

/** Return true if an option is a positional argument; the choice of the subcommand is one. */
export function isPositional(option: ScriptOption): boolean {
  return option.flags.length === 0;
}

/** Return true if a word is a flag for argparse. Negative numbers and `-` are values. */
export function isFlag(word: string): boolean {
  return /^-/.test(word) && word !== '-' && !/^-\.?\d/.test(word);
}
