/** The sweep of a launch form: several values in the fields of options, from which the server makes several jobs. */
import { MedianRule, ScriptOption, Sweep } from '../../api/types';
import { optionKey, optionName } from './scriptOptions';

/** Treatment of a sweep's other jobs when one fails. */
export type OnFailure = 'continue' | 'start_no_more' | 'stop_others';

/** The sweep of a form. */
export interface ISweepForm {
  /** Texts of the options with several values, by `optionKey`, such as `0.1, 0.01` or `8..64 step 8`. */
  values: Readonly<Record<string, string>>;
  /** Number of jobs that are pending or running together. */
  atATime: number;
  onFailure: OnFailure;
  /** Number of random combinations; null for all combinations. */
  count: number | null;
  /** Seed of the random combinations. */
  seed: number;
  /** Numbers of the jobs that the user left out, from 1. */
  leftOut: readonly number[];
  /** Contents path of a file with a job's values in each row; forms of earlier versions lack it. */
  rowsPath?: string | null;
  /** Rule that stops jobs early; forms of earlier versions lack it. */
  rule?: MedianRule | null;
}

/** The rule that a form begins with; it has no effect until the user names the metric. */
export const NEW_RULE: MedianRule = {
  metric: '',
  goal: 'minimize',
  after: 0,
  least_jobs: 3
};

/** The sweep of a form that has one value in each field. */
export const NO_SWEEP: ISweepForm = {
  values: {},
  atATime: 2,
  onFailure: 'continue',
  count: null,
  seed: 0,
  leftOut: []
};

/** A number of a range. */
const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
/** A range such as `1e-4..1e-2 log 5` or `8..64 step 8`. */
const RANGE = new RegExp(
  String.raw`^\s*(${NUMBER})\s*\.\.\s*(${NUMBER})(\s+(step|log|lin)(\s+${NUMBER})?)?\s*$`
);

/**
 * Split a text into the items between its commas. A comma within quotes belongs to its item; empty items are removed.
 */
export function sweepItems(text: string): string[] {
  const items = text.match(/(?:"[^"]*"|'[^']*'|[^,])+/g) ?? [];
  return items.map(item => item.trim()).filter(item => item !== '');
}

/** Return the text for items, which `sweepItems` splits again. */
export function joinItems(items: readonly string[]): string {
  return items.join(', ');
}

/** Return an item that keeps its commas: it is quoted if it contains one. */
export function quoteItem(value: string): string {
  const quote = value.includes('"') ? "'" : '"';
  return /[,"']/.test(value) ? `${quote}${value}${quote}` : value;
}

/** Return true if an item is a range of numbers. */
export function isRange(item: string): boolean {
  return RANGE.test(item);
}

/** Return true if a text stands for several values. */
export function isSeveral(text: string): boolean {
  const items = sweepItems(text);
  return items.length > 1 || items.some(isRange);
}

/** Return the value that a job has if the sweep is ignored: the first one, or the beginning of a range. */
export function firstValue(text: string): string | null {
  const [first] = sweepItems(text);
  if (first === undefined) {
    return null;
  }
  return RANGE.exec(first)?.[1] ?? first.replace(/^(["'])(.*)\1$/, '$2');
}

/**
 * Return true if typing a comma or a range into an option's field makes a sweep.
 *
 * A text may contain a comma of its own, so its field takes several values only after the user asked for them.
 */
export function splitsAtCommas(option: ScriptOption): boolean {
  return (option.kind === 'int' || option.kind === 'float') && canSweep(option);
}

/** Return true if the field of an option can have several values. */
export function canSweep(option: ScriptOption): boolean {
  return (
    option.kind !== 'flag' &&
    option.kind !== 'list' &&
    option.flags.length > 0 &&
    !option.is_command
  );
}

/** Return the keys of the options with several values, in the order of the form. */
export function sweptKeys(
  sweep: ISweepForm,
  options: readonly ScriptOption[]
): string[] {
  return options
    .map(optionKey)
    .filter(key => isSeveral(sweep.values[key] ?? ''));
}

/** Return true if an option has several values. */
export function isSwept({
  sweep,
  options
}: {
  sweep: ISweepForm;
  options: readonly ScriptOption[];
}): boolean {
  return sweptKeys(sweep, options).length > 0;
}

/** Return the sweep as the server reads it. */
export function sweepRequest(
  sweep: ISweepForm,
  options: readonly ScriptOption[]
): Sweep {
  const { values, atATime, onFailure, count, seed, leftOut, rule } = sweep;
  return {
    fields: options
      .filter(option => isSeveral(values[optionKey(option)] ?? ''))
      .map(option => ({
        field: optionName(option),
        values: values[optionKey(option)]
      })),
    rows_path: sweep.rowsPath ?? null,
    method: count === null ? 'grid' : 'random',
    count: count ?? 1,
    seed,
    left_out: [...leftOut],
    at_a_time: atATime,
    on_failure: onFailure,
    rule: rule?.metric.trim() ? { ...rule, metric: rule.metric.trim() } : null
  };
}
