import { pathOf } from '../../../../src/experiments/table/rows/Curve';

describe('the small curve', () => {
  it('fills the height, and has gaps where values are not finite', () => {
    expect(pathOf([0, 1])).toBe('M1.0 18.5L87.0 1.5');
    expect(pathOf([0, 1, NaN, 1, 0]).match(/M/g)).toHaveLength(2);
  });

  it('is a line in the middle for equal values, and nothing for one value', () => {
    expect(pathOf([2, 2])).toBe('M1.0 10L87.0 10');
    expect(pathOf([2, NaN])).toBe('');
  });
});
