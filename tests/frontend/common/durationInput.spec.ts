import { formatSpan, parseSpan } from '../../../src/common/durationInput';

describe('spans', () => {
  it.each([
    ['12h', 43200],
    ['90 min', 5400],
    ['1h 30min', 5400],
    ['1.5 hours', 5400],
    ['2 days', 172800],
    ['45s', 45]
  ])('reads %j', (text, seconds) => {
    expect(parseSpan(text)).toBe(seconds);
  });

  it.each(['', '12', 'soon', '5 weeks', '-3h', '0s', '1h x'])(
    'refuses %j',
    text => expect(parseSpan(text)).toBeNull()
  );

  it.each([1, 59, 60, 3661, 86400, 90061])('writes %d s as it reads it', n => {
    expect(parseSpan(formatSpan(n))).toBe(n);
  });
});
