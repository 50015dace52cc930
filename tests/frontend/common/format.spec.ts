import { nullTranslator } from '@jupyterlab/translation';
import {
  formatAge,
  formatAgo,
  formatBytes,
  formatClock,
  formatCount,
  formatDuration,
  formatEta,
  formatExact,
  formatFree,
  formatMemory,
  formatMilliseconds,
  formatTime,
  listed,
  sentences,
  setLocale,
  wholePercent
} from '../../../src/common/format';

const trans = nullTranslator.load('');
const at = (...parts: [number, number, number, number, number]): number =>
  new Date(...parts).getTime() / 1000;

describe('durations', () => {
  it.each([
    [-3, '0 s'],
    [38.9, '38 s'],
    [60, '1 min'],
    [252, '4 min 12 s'],
    [3600, '1 h'],
    [9999, '2 h 46 min'],
    [100_000, '27 h 46 min'],
    [3 * 86400 + 5, '3 days']
  ])('%d s is “%s”', (seconds, text) => {
    expect(formatDuration(seconds, trans)).toBe(text);
  });

  it.each([
    [40, '40 s'],
    [400, '6 min'],
    [7440, '2 h 04 min'],
    [12 * 3600 + 60, '12 h'],
    [86400 * 2, '2 days']
  ])('an age of %d s is “%s”', (seconds, text) => {
    expect(formatAge(seconds, trans)).toBe(text);
  });

  it.each([
    [0.4, 'just now'],
    [20, '20 s ago'],
    [7200, '2 h 00 min ago']
  ])('%d s ago is “%s”', (seconds, text) => {
    expect(formatAgo(seconds, trans)).toBe(text);
  });

  it.each([
    [1, '5 s left'],
    [43, '45 s left'],
    [95, '2 min left'],
    [9980, '2 h 45 min left']
  ])('an estimate of %d s is “%s”', (seconds, text) => {
    expect(formatEta(seconds, trans)).toBe(text);
  });
});

describe('times', () => {
  const now = at(2026, 10, 20, 10, 0);

  it.each([
    [at(2026, 10, 20, 9, 58), '09:58'],
    [at(2026, 10, 19, 23, 59), 'yesterday'],
    [at(2026, 10, 18, 9, 0), 'Nov 18'],
    [at(2025, 10, 19, 9, 0), 'Nov 19, 2025']
  ])('%d is “%s”', (time, text) => {
    expect(formatTime(time, trans, now)).toBe(text);
  });

  it('gives the exact time with its zone', () => {
    expect(formatExact(at(2026, 10, 19, 9, 58))).toMatch(
      /^Nov 19, 2026, 09:58:00 (UTC|GMT[+-]\d+(:\d\d)?|[A-Z]{3,4})$/
    );
  });
});

describe('times in another language', () => {
  afterEach(() => setLocale('en'));

  it.each([
    ['de_DE', '18. Nov.'],
    ['zh_CN', '11月18日'],
    ['not a language', 'Nov 18'],
    ['default', 'Nov 18'],
    ['ach_UG', 'Nov 18']
  ])('%s: “%s”', (code, text) => {
    setLocale(code);
    const [time, now] = [at(2026, 10, 18, 9, 0), at(2026, 10, 20, 10, 0)];
    expect(formatTime(time, trans, now)).toBe(text);
  });

  it('copies times in the same way in all languages', () => {
    setLocale('ar-EG');
    expect(formatMilliseconds(at(2026, 10, 18, 17, 5) + 0.104)).toBe(
      '17:05:00.104'
    );
  });

  it.each([1e303, -1e303, Infinity, NaN])('has no time for %d', time => {
    expect(formatClock(time)).toBe('–');
    expect(formatMilliseconds(time)).toBe('–');
    expect(formatExact(time)).toBe('–');
  });

  it('has the time of day with 24 hours', () => {
    setLocale('en_US');
    expect(formatClock(at(2026, 10, 18, 0, 5))).toBe('00:05');
    expect(formatClock(at(2026, 10, 18, 17, 5), true)).toBe('17:05:00');
  });
});

describe('lists and sentences', () => {
  afterEach(() => setLocale('en'));

  it.each([
    ['en', 'a, b, c', 'One. Two.'],
    ['zh_CN', 'a、b、c', 'One.Two.']
  ])('%s: “%s”, “%s”', (code, list, text) => {
    setLocale(code);
    expect(listed(['a', null, 'b', '', 'c'])).toBe(list);
    expect(sentences(['One.', undefined, 'Two.'])).toBe(text);
  });
});

describe('sizes', () => {
  it.each([
    [512, '512 B'],
    [1400, '1.4 kB'],
    [11_000_000, '11 MB'],
    [999_999, '1.0 MB']
  ])('%d bytes are “%s”', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('gives memory in binary units', () => {
    expect(formatMemory(16 * 2 ** 30)).toBe('16.0 GiB');
    expect(formatMemory(192 * 2 ** 30)).toBe('192 GiB');
  });

  it.each([
    ['cpu', 1.98, '1.9'],
    ['cpu', 63.99, '63.9'],
    ['cpu', 64 - 0.1 - 0.2, '63.7'],
    ['cpu', 0.3 - 0.1, '0.2'],
    ['cpu', 1439.9, '1\u202f439'],
    ['nvidia.com/gpu', 6, '6'],
    ['memory', 511.99 * 2 ** 30, '511 GiB'],
    ['memory', 1.99 * 2 ** 30, '1.9 GiB']
  ])('what is free of %s is never more than %p: %s', (resource, free, text) => {
    expect(formatFree(resource, free)).toBe(text);
  });

  it('parts thousands', () => {
    expect(formatCount(1440)).toBe('1\u202f440');
    expect(formatCount(123)).toBe('123');
  });
});

it.each([
  [0.29, 29],
  [0.999, 99],
  [1, 100]
])('shows the share %d as %d %%', (share, percent) => {
  expect(wholePercent(share)).toBe(percent);
});
