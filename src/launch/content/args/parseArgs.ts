/** Values of a script's options, from the arguments of a job. */
import { ScriptOption } from '../../../api/types';
import { joinWords } from '../../../common/shellWords';
import {
  commandPath,
  isFlag,
  isPositional,
  optionKey,
  OptionValue
} from '../scriptOptions';
import { Positionals } from './positionals';

/** An option that was found in the arguments. */
interface ITakenOption {
  /** Its `optionKey`. */
  key: string;
  value: OptionValue;
  /** Index after its last argument. */
  end: number;
}

/** Arguments as values of known options, by `optionKey`, and remaining arguments. */
export interface IParsedArgs {
  values: Record<string, OptionValue>;
  more: string[];
}

/**
 * Split arguments into values of known options and remaining arguments, as argparse does.
 *
 * Repeated options and values that a field can't show stay in the remaining arguments, so no argument is lost. Words
 * whose meaning depends on the options around them stay there too, with all that follows: they must not move.
 */
export function parseArgs(
  args: readonly string[],
  options: readonly ScriptOption[]
): IParsedArgs {
  const reader = new ArgsReader(args, options);
  const end = reader.read();
  const { values, more } =
    end < reader.at ? parseArgs(args.slice(0, end), options) : reader;
  return { values, more: [...more, ...args.slice(end)] };
}

/** Reads arguments from the first to the last. */
class ArgsReader {
  constructor(
    private readonly _args: readonly string[],
    private readonly _options: readonly ScriptOption[]
  ) {
    this._known = _options.filter(option => option.command === null);
    this._positionals = new Positionals(this._known.filter(isPositional));
  }

  readonly values: Record<string, OptionValue> = {};
  readonly more: string[] = [];

  /** Index of the next argument. */
  at = 0;

  /** Read arguments; return the index from which on they must stay as they are, which may be before `at`. */
  read(): number {
    const { length } = this._args;
    while (this.at < length) {
      const arg = this._args[this.at];
      if (arg === '--') {
        // All words that follow are positional.
        const { start } = this._positionals;
        const isSame = this._positionals.holds(length - this.at - 1);
        return isSame || start === null ? this.at : start;
      }
      const taken = takeOption(this._args, this.at, this._known);
      if (taken || isFlag(arg)) {
        this._readOption(taken);
        continue;
      }
      const end = this._readWords();
      if (end !== null) {
        return end;
      }
    }
    return length;
  }

  /** Read an option that is known, or a flag that is not. */
  private _readOption(taken: ITakenOption | null): void {
    const end = taken?.end ?? this.at + 1;
    if (taken && !(taken.key in this.values)) {
      this.values[taken.key] = taken.value;
      this.at = end;
    } else {
      this._keep(end);
    }
  }

  /** Add the arguments before an index to the remaining ones. */
  private _keep(end: number): void {
    this.more.push(...this._args.slice(this.at, end));
    this.at = this._kept = end;
  }

  /** Read words that are no options; return the index from which on all stays as it is, null to go on. */
  private _readWords(): number | null {
    const { at } = this;
    const arg = this._args[at];
    const { open } = this._positionals;
    const isCommand = open[0]?.is_command && open[0].choices.includes(arg);
    if (this.more.length && isCommand) {
      return at; // the subcommand must not move before them
    }
    if (this.more.length && this._kept === at) {
      this._unclear.push(at);
      this._keep(at + 1);
      return null;
    }
    const end = wordsEnd(this._args, at, this._known);
    const [firstUnclear] = this._unclear;
    const unclear = this._unclear.length;
    if (unclear && this._positionals.canTake(unclear + end - at)) {
      return firstUnclear; // which may be a positional argument before these words
    }
    const start = (this._positionals.start ??= at);
    const shares = this._positionals.take(end - at);
    if (!this._positionals.holds()) {
      return start;
    }
    for (const [index, count] of shares.entries()) {
      const option = open[index];
      const words = this._args.slice(this.at, this.at + count);
      if (option.is_command) {
        return this._chooses(option, words[0]) ? null : start;
      }
      if (option.kind !== 'list' && words[0] === '') {
        return start;
      }
      if (count) {
        this.values[optionKey(option)] =
          option.kind === 'list' ? joinWords(words) : words[0];
        this.at += count;
      }
    }
    if (this.at < end) {
      this._keep(end);
    }
    return null;
  }

  /** Read the name of a subcommand, whose options follow; return false if it is not known. */
  private _chooses(option: ScriptOption, name: string): boolean {
    if (!option.choices.includes(name)) {
      return false;
    }
    this.values[optionKey(option)] = name;
    const path = commandPath(option, name);
    this._known = this._options.filter(one => one.command === path);
    this._positionals = new Positionals(this._known.filter(isPositional));
    this.at += 1;
    return true;
  }

  /** The options of the subcommand that was read last. */
  private _known: readonly ScriptOption[];
  private _positionals: Positionals;
  /** Index after the last argument that was added to `more`. */
  private _kept = 0;
  /** Indices of words that follow unknown flags, whose values they may be. */
  private readonly _unclear: number[] = [];
}

/** Return the index after the words that begin at an index and belong to no option. */
function wordsEnd(
  args: readonly string[],
  start: number,
  known: readonly ScriptOption[]
): number {
  const length = args
    .slice(start)
    .findIndex(
      (arg, at) => isFlag(arg) || takeOption(args, start + at, known) !== null
    );
  return length < 0 ? args.length : start + length;
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
