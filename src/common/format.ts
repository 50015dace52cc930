/** Formatters for times, durations, sizes and amounts. */

import { TranslationBundle } from '@jupyterlab/translation';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** BCP 47 tag of JupyterLab's language, which dates are written in. */
let locale = 'en';

/**
 * Set the language of dates.
 *
 * @param code - JupyterLab's code of a language, such as “zh_CN”. English is used if the browser does not
 *   support it.
 */
export function setLocale(code: string): void {
  try {
    const tag = code.replace(/_/g, '-');
    [locale = 'en'] = Intl.DateTimeFormat.supportedLocalesOf(tag);
  } catch {
    locale = 'en'; // the code is not a valid language tag
  }
  formats.clear();
  list = undefined;
}

const formats = new Map<string, Intl.DateTimeFormat>();
let list: Intl.ListFormat | undefined;

type Texts = Iterable<string | number | false | null | undefined>;

/** Join the items that are not empty as the page's language does: “a, b, c” or “a、b、c”. */
export function listed(items: Texts): string {
  list ??= new Intl.ListFormat(locale, {
    type: 'conjunction',
    style: 'narrow'
  });
  return list.format([...items].filter(Boolean).map(String));
}

/** Join the sentences that are not empty. Chinese and Japanese have no space between sentences. */
export function sentences(texts: Texts): string {
  return [...texts].filter(Boolean).join(/^(zh|ja)/.test(locale) ? '' : ' ');
}

/** The latest time that a JavaScript date can represent, in milliseconds. */
const LATEST = 8.64e15;

/** Format a time. The formats are cached: creating one takes about a hundred times as long as using it. */
function formatDate(time: number, options: Intl.DateTimeFormatOptions): string {
  const key = Object.keys(options).join();
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(locale, options);
    formats.set(key, format);
  }
  return write(format, time);
}

/** Format a time; “–” if a JavaScript date cannot represent it, since a log's index can contain any number. */
function write(format: Intl.DateTimeFormat, time: number): string {
  const milliseconds = time * 1000;
  return Math.abs(milliseconds) <= LATEST ? format.format(milliseconds) : '–';
}

const DATE = { month: 'short', day: 'numeric' } as const;
const DATE_AND_YEAR = { ...DATE, year: 'numeric' } as const;
/** Time of day in 24-hour notation, as in logs and in cluster tools. */
const CLOCK = {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23'
} as const;
const SECONDS = { ...CLOCK, second: '2-digit' } as const;
const digits = new Intl.DateTimeFormat('en-GB', SECONDS);
const digitsToMilliseconds = new Intl.DateTimeFormat('en-GB', {
  ...SECONDS,
  fractionalSecondDigits: 3
});

/**
 * Return a duration in at most two units: “38 s”, “4 min 12 s”, “2 h 46 min”, “3 days”.
 *
 * @param seconds - The duration. Negative values, which result from clocks that differ, count as 0.
 */
export function formatDuration(
  seconds: number,
  trans: TranslationBundle
): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) {
    return trans.__('%1 s', whole);
  }
  if (whole < HOUR) {
    const rest = whole % MINUTE;
    const minutes = Math.floor(whole / MINUTE);
    return rest
      ? trans.__('%1 min %2 s', minutes, rest)
      : trans.__('%1 min', minutes);
  }
  if (whole < 2 * DAY) {
    const rest = Math.floor((whole % HOUR) / MINUTE);
    const hours = Math.floor(whole / HOUR);
    return rest
      ? trans.__('%1 h %2 min', hours, rest)
      : trans.__('%1 h', hours);
  }
  const days = Math.floor(whole / DAY);
  return trans._n('%1 day', '%1 days', days);
}

/** Return an age for a narrow column: “6 min” without seconds, “2 h 04 min” below 10 hours, then “12 h”. */
export function formatAge(seconds: number, trans: TranslationBundle): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole >= MINUTE && whole < HOUR) {
    return trans.__('%1 min', Math.floor(whole / MINUTE));
  }
  if (whole >= HOUR && whole < 10 * HOUR) {
    const minutes = Math.floor((whole % HOUR) / MINUTE);
    const hours = Math.floor(whole / HOUR);
    return trans.__('%1 h %2 min', hours, String(minutes).padStart(2, '0'));
  }
  if (whole >= 10 * HOUR && whole < 2 * DAY) {
    return trans.__('%1 h', Math.floor(whole / HOUR));
  }
  return formatDuration(whole, trans);
}

/** Return how long ago an event happened: “20 s ago”. */
export function formatAgo(seconds: number, trans: TranslationBundle): string {
  return seconds < 1
    ? trans.__('just now')
    : trans.__('%1 ago', formatAge(seconds, trans));
}

/** Return a share as a whole percentage, rounded down so that only the end is 100. */
export function wholePercent(fraction: number): number {
  return Math.floor(100 * fraction + 1e-6); // 100 * 0.29 is 28.999…
}

/** Return an estimate of the remaining time: “5 min left”. It is rounded to 5 s, then 1 min, then 5 min. */
export function formatEta(seconds: number, trans: TranslationBundle): string {
  const step = seconds < MINUTE ? 5 : seconds < HOUR ? MINUTE : 5 * MINUTE;
  const rounded = Math.max(step, Math.round(seconds / step) * step);
  return trans.__('%1 left', formatDuration(rounded, trans));
}

/**
 * Return a time. Recent times are shorter: “09:58”, “yesterday”, “Nov 19”, “Nov 19, 2025”.
 *
 * @param time - Seconds since the epoch.
 * @param now - Current time in seconds since the epoch; given in tests.
 */
export function formatTime(
  time: number,
  trans: TranslationBundle,
  now = Date.now() / 1000
): string {
  const date = new Date(time * 1000);
  const today = new Date(now * 1000);
  if (date.toDateString() === today.toDateString()) {
    return formatClock(time);
  }
  const yesterday = new Date(today);
  yesterday.setDate(today.getDate() - 1);
  if (date.toDateString() === yesterday.toDateString()) {
    return trans.__('yesterday');
  }
  return formatDate(
    time,
    date.getFullYear() === today.getFullYear() ? DATE : DATE_AND_YEAR
  );
}

/** Return a day for the head of a group: “Today, Nov 21”, “Nov 19”, “Nov 19, 2025”. */
export function formatDay(time: number, trans: TranslationBundle): string {
  const day = formatDate(
    time,
    new Date(time * 1000).getFullYear() === new Date().getFullYear()
      ? DATE
      : DATE_AND_YEAR
  );
  const recent = formatTime(time, trans);
  return recent === formatClock(time)
    ? trans.__('Today, %1', day)
    : recent === trans.__('yesterday')
      ? trans.__('Yesterday, %1', day)
      : day;
}

/** Return a time for use in a sentence: “at 09:58”, “yesterday at 09:58”, “on Nov 19 at 09:58”. */
export function formatMoment(
  time: number,
  trans: TranslationBundle,
  now = Date.now() / 1000
): string {
  const [clock, day] = [formatClock(time), formatTime(time, trans, now)];
  if (day === clock) {
    return trans._p('time of day', 'at %1', clock);
  }
  return day === trans.__('yesterday')
    ? trans.__('yesterday at %1', clock)
    : trans.__('on %1 at %2', day, clock);
}

/** Return the time of day: “09:58”, or “09:58:07” with seconds. */
export function formatClock(time: number, withSeconds = false): string {
  return formatDate(time, withSeconds ? SECONDS : CLOCK);
}

/** Return the time of day for an input field, the same in all languages: “09:58:07”. */
export function formatClockInput(time: number): string {
  return write(digits, time);
}

/** Return the time of day with milliseconds for copied text, the same in all languages: “10:39:31.104”. */
export function formatMilliseconds(time: number): string {
  return write(digitsToMilliseconds, time);
}

/** Return the exact time with its time zone, for tooltips: “Nov 19, 2026, 09:58:07 GMT+8”. */
export function formatExact(time: number): string {
  return formatDate(time, {
    ...DATE_AND_YEAR,
    ...SECONDS,
    timeZoneName: 'short'
  });
}

/** Return a file size in decimal units, like the file browser: “512 B”, “11 MB”, “1.4 GB”. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let size = bytes;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits)} ${units[unit]}`;
}

/**
 * Return a memory size in binary units, like operating systems and clusters: “15.6 GiB”.
 *
 * @param bytes - The size.
 * @param round - Rounds the last digit that is shown.
 */
export function formatMemory(bytes: number, round = Math.round): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const digits = unit > 0 && size < 99.95 ? 1 : 0;
  const shown = round(size * 10 ** digits) / 10 ** digits;
  return `${shown.toFixed(digits)} ${units[unit]}`;
}

/** Return a count with narrow no-break spaces between thousands: “1 440”. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/**
 * Return a value of a metric with four digits (0.0812, 0.0003, 1.28e-7), or as an integer from 1000 on (12340).
 *
 * Numbers below 0.0001 have an exponent, as in the sentences of the server.
 */
export function formatMetric(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) {
    return String(Math.round(value));
  }
  const short = Number(value.toPrecision(4));
  return size > 0 && size < 1e-4 ? short.toExponential() : String(short);
}

/** Return an amount of a Kubernetes resource: “6” or “1.5” cores, “15.6 GiB” of memory. */
export function formatAmount(resource: string, amount: number): string {
  return isBytes(resource)
    ? formatMemory(amount)
    : amount < 10
      ? String(Number(amount.toFixed(1)))
      : formatCount(amount);
}

/** Return the free amount of a Kubernetes resource, rounded down: “1.9” for 1.98 cores. */
export function formatFree(resource: string, amount: number): string {
  // A sum of millicores can be slightly less than its exact value, because of floating-point errors.
  const whole = (number: number): number => Math.floor(number + 1e-6);
  return isBytes(resource)
    ? formatMemory(amount, Math.floor)
    : amount < 100
      ? String(whole(amount * 10) / 10)
      : formatCount(whole(amount));
}

const BYTES = /memory$|storage$|hugepages-/;

function isBytes(resource: string): boolean {
  return BYTES.test(resource);
}

/** Return how a process ended: the server's text, or the exit code if the engine provides no text. */
export function formatEnd(
  { ended, exit_code }: { ended: string | null; exit_code: number | null },
  trans: TranslationBundle
): string {
  if (ended !== null) {
    return ended;
  }
  return exit_code === null ? '' : trans.__('exit code %1', exit_code);
}
