import {
  firstValue,
  isSeveral,
  NO_SWEEP,
  quoteItem,
  sweepItems,
  sweepRequest,
  sweptKeys
} from '../../../../src/launch/content/sweep';
import { option, OPTIONS } from '../../launchFakes';

describe('the values of a field', () => {
  it.each([
    ['0.1, 0.01', ['0.1', '0.01'], true, '0.1'],
    ['0.1', ['0.1'], false, '0.1'],
    ['0.1,', ['0.1'], false, '0.1'],
    [' , ', [], false, null],
    ['8..64 step 8', ['8..64 step 8'], true, '8'],
    ['1e-4..1e-2 log 5', ['1e-4..1e-2 log 5'], true, '1e-4'],
    ['1..3', ['1..3'], true, '1'],
    ['0..1 lin 5, 7', ['0..1 lin 5', '7'], true, '0'],
    ['"a,b", c', ['"a,b"', 'c'], true, 'a,b'],
    ['../data', ['../data'], false, '../data'],
    ['a..b', ['a..b'], false, 'a..b']
  ])('%s', (text, items, several, first) => {
    expect(sweepItems(text)).toEqual(items);
    expect(isSeveral(text)).toBe(several);
    expect(firstValue(text)).toBe(first);
  });

  it.each([
    ['0.1', '0.1'],
    ['a,b', '"a,b"'],
    ['say "a"', `'say "a"'`]
  ])('keep the commas of %s', (value, item) => {
    expect(quoteItem(value)).toBe(item);
    expect(firstValue(item)).toBe(value);
    expect(isSeveral(item)).toBe(false);
  });
});

it('asks for the options with several values, in the order of the form', () => {
  const sweep = {
    ...NO_SWEEP,
    values: { '--lr': '0.1, 0.01', '--epochs': '5..7', '--backend': 'gloo' },
    count: 3,
    leftOut: [2]
  };
  expect(sweptKeys(sweep, OPTIONS)).toEqual(['--epochs', '--lr']);
  expect(sweepRequest(sweep, [...OPTIONS, option('--new')])).toEqual({
    fields: [
      { field: '--epochs', values: '5..7' },
      { field: '--lr', values: '0.1, 0.01' }
    ],
    rows_path: null,
    method: 'random',
    count: 3,
    seed: 0,
    left_out: [2],
    at_a_time: 2,
    on_failure: 'continue',
    rule: null
  });
});
