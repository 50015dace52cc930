import { isEqual, memoized } from '../../../src/common/memo';

describe('a memoized function', () => {
  it('computes again only when one of its inputs is another object', () => {
    const compute = jest.fn(({ a, b }: { a: object; b: number }) => [a, b]);
    const get = memoized(compute);
    const a = {};
    const first = get({ a, b: 1 });
    expect(get({ a, b: 1 })).toBe(first);
    expect(compute).toHaveBeenCalledTimes(1);
    expect(get({ a, b: 2 })).toEqual([a, 2]);
    expect(get({ a: {}, b: 2 })[0]).not.toBe(a);
    expect(compute).toHaveBeenCalledTimes(3);
  });
});

describe('two values', () => {
  const something = { a: [1, { b: null }], c: undefined };

  it.each<[unknown, unknown]>([
    [something, { a: [1, { b: null }], c: undefined }],
    [NaN, NaN],
    [[], []]
  ])('%j and %j have the same content', (one, other) => {
    expect(isEqual(one, other)).toBe(true);
  });

  it.each<[unknown, unknown]>([
    [something, { a: [1, { b: 0 }], c: undefined }],
    [{ a: undefined }, { b: undefined }],
    [{}, []],
    [[], [undefined]],
    [null, {}],
    [new Set([1]), new Set([1])],
    [new Error('a'), new Error('a')],
    [() => 1, () => 1]
  ])('%p and %p do not', (one, other) => {
    expect(isEqual(one, other)).toBe(false);
    expect(isEqual(other, one)).toBe(false);
  });
});
