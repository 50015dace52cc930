import { restore } from '../../../src/jobs/restore';

type Spec = Record<string, unknown>;

describe('restore', () => {
  const kept: Spec = { a: 1, queue: 'q', list: [1, 2], deep: { x: 1, y: 2 } };
  const begun: Spec = { a: 1, queue: null, list: [], deep: { x: 1, y: 2 } };

  it('brings back what could not come along', () => {
    expect(restore(kept, begun, begun, begun)).toEqual(kept);
  });

  it('keeps what was changed since, as it is there', () => {
    const now = { ...begun, a: 2, deep: { x: 5, y: 2 } };
    const next = { ...begun, a: 2, deep: { x: 6, y: 2 } };
    expect(restore(kept, begun, now, next)).toEqual({
      ...kept,
      a: 2,
      deep: { x: 6, y: 2 }
    });
  });

  it('counts a list as one value', () => {
    const now = { ...begun, list: [3] };
    expect(restore(kept, begun, now, now).list).toEqual([3]);
  });

  it('takes what is new, and leaves what was taken away', () => {
    const { queue, list, deep } = begun;
    const now = { queue, list, deep, labels: { b: 'c' } };
    expect(restore(kept, begun, now, now)).toEqual({
      queue: 'q',
      list: [1, 2],
      deep: { x: 1, y: 2 },
      labels: { b: 'c' }
    });
  });
});
