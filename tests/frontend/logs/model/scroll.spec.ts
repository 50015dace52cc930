import { LogLine } from '../../../../src/api/types';
import { LogScroll } from '../../../../src/logs/model/scroll';
import { LogWindow } from '../../../../src/logs/loading/window';

const ROW = 18;
const BYTES = 100;

/** A window on the lines `from` to `to` of a log of `total` lines. */
function windowOn(from: number, to: number, total: number): LogWindow {
  const window = new LogWindow();
  const lines: LogLine[] = Array.from({ length: to - from }, (_, index) => ({
    stream: 'a',
    offset: (from + index) * BYTES,
    size: BYTES,
    time: from + index,
    text: `line ${from + index}`,
    updates: 1,
    partial: false,
    cut: false,
    removed: 0
  }));
  window.reset({
    lines,
    before: { a: from * BYTES },
    after: { a: to * BYTES },
    at_start: from === 0,
    at_end: to === total
  });
  return window;
}

function scrollOn(
  window: LogWindow,
  total: number,
  heightOf: (line: LogLine) => number = () => ROW
): LogScroll {
  const scroll = new LogScroll(window);
  scroll.viewHeight = 600;
  layout(scroll, window, total, heightOf);
  return scroll;
}

function layout(
  scroll: LogScroll,
  window: LogWindow,
  total: number,
  heightOf: (line: LogLine) => number = () => ROW
): void {
  const { a: before } = window.before;
  const { a: after } = window.after;
  const tops = window.lines.reduce(
    (all, line) => [...all, all[all.length - 1] + heightOf(line)],
    [0]
  );
  scroll.layout(Float64Array.from(tops), {
    before,
    within: after - before,
    after: total * BYTES - after
  });
}

const firstLine = (scroll: LogScroll, window: LogWindow): string | undefined =>
  window.line(scroll.visible().first)?.text;

describe('LogScroll', () => {
  it('is exact in px where the whole log is held', () => {
    const window = windowOn(0, 1000, 1000);
    const scroll = scrollOn(window, 1000);
    expect(scroll.height).toBe(1000 * ROW);
    expect(scroll.scrolled(0, 9000)).toBeNull();
    expect(firstLine(scroll, window)).toBe('line 500');
    expect(scroll.scrollTop).toBe(9000);
    expect(scroll.range(20)).toEqual({ start: 480, end: 554, y: -20 * ROW });
  });

  it('draws only what is in view and a little more', () => {
    const window = windowOn(0, 10_000, 10_000);
    const { start, end } = scrollOn(window, 10_000).range(20);
    expect(end - start).toBeLessThan(600 / ROW + 45);
  });

  it('keeps what is in view in its place when lines are added above', () => {
    const window = windowOn(5000, 6000, 10_000);
    const scroll = scrollOn(window, 10_000);
    scroll.reveal(200, 'start');
    const earlier = windowOn(4000, 5000, 10_000);
    window.prepend({
      lines: earlier.lines,
      before: earlier.before,
      after: {},
      at_start: false,
      at_end: false
    });
    layout(scroll, window, 10_000);
    expect(firstLine(scroll, window)).toBe('line 5200');
  });

  it('stands in the bar where the bytes say', () => {
    const window = windowOn(5000, 6000, 10_000);
    const scroll = scrollOn(window, 10_000);
    expect(scroll.height).toBe(10_000 * ROW);
    expect(scroll.scrollTop).toBeCloseTo(5000 * ROW, 0);
  });

  it('moves by px for small steps, and asks for other parts after a jump', () => {
    const window = windowOn(5000, 6000, 10_000);
    const scroll = scrollOn(window, 10_000);
    const from = scroll.scrollTop;
    expect(scroll.scrolled(from, from + 180)).toBeNull();
    expect(firstLine(scroll, window)).toBe('line 5010');
    const fraction = scroll.scrolled(from + 180, scroll.height * 0.2);
    expect(fraction).toBeCloseTo(0.2, 1);
    expect(firstLine(scroll, window)).toBe('line 5010');
    expect(scroll.scrolled(0, scroll.height - 600)).toBe(1);
    expect(scroll.scrolled(scroll.height, 0)).toBe(0);
  });

  it('stays within what browsers can draw, however long the log is', () => {
    const total = 100_000_000;
    const window = windowOn(50_000_000, 50_001_000, total);
    const scroll = scrollOn(window, total);
    expect(scroll.height).toBe(12_000_000);
    expect(scroll.scrollTop).toBeCloseTo(6_000_000, -3);
    scroll.scrolled(6_000_000, 6_000_180);
    expect(firstLine(scroll, window)).toBe('line 50000010');
  });

  it('tells in time that more is needed', () => {
    const window = windowOn(5000, 6000, 10_000);
    const scroll = scrollOn(window, 10_000);
    scroll.reveal(500, 'start');
    expect(scroll.needs(200)).toEqual({ before: false, after: false });
    scroll.reveal(100, 'start');
    expect(scroll.needs(200)).toEqual({ before: true, after: false });
    scroll.toEnd();
    expect(scroll.needs(200)).toEqual({ before: false, after: true });
  });

  it('knows rows of different heights', () => {
    const window = windowOn(0, 100, 100);
    const tall = (line: LogLine): number => (line.offset === 0 ? 1000 : ROW);
    const scroll = scrollOn(window, 100, tall);
    expect(scroll.height).toBe(1000 + 99 * ROW);
    scroll.scrolled(0, 1000 + ROW);
    expect(firstLine(scroll, window)).toBe('line 2');
    scroll.toEnd();
    expect(scroll.atBottom).toBe(true);
    expect(scroll.visible().last).toBe(99);
  });

  it('keeps a revealed row in its place when the view is resized, until the next scroll', () => {
    const window = windowOn(0, 1000, 1000);
    const scroll = scrollOn(window, 1000);
    const lastIn = (height: number): string | undefined => {
      scroll.viewHeight = height;
      layout(scroll, window, 1000);
      return window.line(scroll.visible().last)?.text;
    };
    scroll.reveal(990, 'center');
    expect(lastIn(600)).toBe('line 999');
    expect(lastIn(300)).toBe('line 998');
    expect(lastIn(600)).toBe('line 999');
    const top = scroll.scrollTop;
    scroll.scrolled(top, top - 10 * ROW);
    expect(lastIn(600)).toBe('line 989');
    expect(lastIn(300)).toBe('line 973'); // the first row stays
  });

  it('brings a row into view by the least scrolling', () => {
    const window = windowOn(0, 10_000, 10_000);
    const scroll = scrollOn(window, 10_000);
    scroll.reveal(1000, 'start');
    scroll.reveal(1005, 'nearest');
    expect(scroll.visible().first).toBe(1000);
    scroll.reveal(990, 'nearest');
    expect(scroll.visible().first).toBe(990);
    scroll.reveal(2000, 'nearest');
    expect(scroll.visible().last).toBe(2000);
  });
});
