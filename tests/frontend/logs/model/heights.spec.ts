import { LogLine } from '../../../../src/api/types';
import { LogHeights } from '../../../../src/logs/model/heights';

const NONE = new Map<number, number>();

function someLine(number: number): LogLine {
  return {
    stream: 'a',
    offset: number * 100,
    size: 100,
    time: number,
    text: `line ${number}`,
    updates: 1,
    partial: false,
    cut: false,
    removed: 0
  };
}

describe('LogHeights', () => {
  const all = Array.from({ length: 1000 }, (_, number) => someLine(number));
  const estimate = jest.fn((line: LogLine) => 10 + (line.time ?? 0));
  let heights: LogHeights;

  /** Upper edges of the lines `from` to `to`, whose ordinals are their numbers less `base`. */
  const tops = (from: number, to: number, base = 0, extra = NONE): number[] => [
    ...heights.tops(all.slice(from, to), from - base, extra)
  ];
  const expected = (from: number, to: number, other = NONE): number[] => {
    const edges = [0];
    for (let number = from; number < to; number++) {
      edges.push(edges[number - from] + (other.get(number) ?? 10 + number));
    }
    return edges;
  };

  beforeEach(() => {
    heights = new LogHeights(estimate);
    estimate.mockClear();
  });

  it('estimates only rows that are new, wherever they come', () => {
    expect(tops(100, 200)).toEqual(expected(100, 200));
    expect(estimate).toHaveBeenCalledTimes(100);
    expect(tops(100, 230)).toEqual(expected(100, 230)); // behind
    expect(tops(150, 230)).toEqual(expected(150, 230)); // dropped at the start
    expect(tops(150, 180)).toEqual(expected(150, 180)); // dropped at the end
    expect(estimate).toHaveBeenCalledTimes(130);
    expect(tops(120, 180)).toEqual(expected(120, 180)); // before
    expect(estimate).toHaveBeenCalledTimes(160);
    expect(tops(120, 180)).toEqual(expected(120, 180));
    expect(estimate).toHaveBeenCalledTimes(160);
    expect(tops(0, 1000)).toEqual(expected(0, 1000));
    expect(tops(900, 1000)).toEqual(expected(900, 1000));
    expect(tops(300, 400)).toEqual(expected(300, 400));
    expect(tops(0, 0)).toEqual([0]);
  });

  it('is not deceived by other lines of the same ordinals', () => {
    tops(100, 200, 100);
    expect(tops(500, 600, 500)).toEqual(expected(500, 600));
  });

  it('keeps what was measured while its line is held', () => {
    tops(100, 200);
    expect(heights.isMeasured(all[150])).toBe(false);
    expect(heights.measured(150, all[150], 40)).toBe(true);
    expect(heights.measured(150, all[150], 40.2)).toBe(false);
    expect(heights.isMeasured(all[150])).toBe(true);
    const measured = new Map([[150, 40.2]]);
    expect(tops(90, 200)).toEqual(expected(90, 200, measured));
    expect(tops(140, 300)).toEqual(expected(140, 300, measured));
    const { length } = all;
    expect(heights.measured(150, all[length - 1], 99)).toBe(false); // another line is there
    expect(tops(140, 300)).toEqual(expected(140, 300, measured));
  });

  it('adds what stands beside rows', () => {
    const extra = new Map([[1, 500]]);
    const [, ...rest] = tops(0, 3, 0, extra);
    expect(rest).toEqual([10, 521, 533]);
    expect(tops(0, 3)).toEqual(expected(0, 3));
  });
});
