import { LogLine } from '../../../../src/api/types';
import { LogWindow } from '../../../../src/logs/loading/window';

const line = (offset: number, changes: Partial<LogLine> = {}): LogLine => ({
  stream: 'a',
  offset,
  size: 10,
  time: offset,
  text: `line ${offset}`,
  updates: 1,
  partial: false,
  cut: false,
  removed: 0,
  ...changes
});

const page = (
  lines: LogLine[],
  edges: Partial<{ at_start: boolean; at_end: boolean }> = {}
) => ({
  lines,
  before: { a: lines[0]?.offset ?? 0 },
  after: { a: lines.length ? lines[lines.length - 1].offset + 10 : 0 },
  at_start: false,
  at_end: false,
  ...edges
});

const offsets = (window: LogWindow): number[] =>
  window.lines.map(item => item.offset);

describe('LogWindow', () => {
  it('keeps ordinals while lines are added on both sides', () => {
    const window = new LogWindow();
    window.reset(page([line(20), line(30)]));
    window.prepend(page([line(0), line(10)], { at_start: true }));
    window.append([line(40)], { a: 50 });
    expect(offsets(window)).toEqual([0, 10, 20, 30, 40]);
    expect(window.line(0)?.offset).toBe(20);
    expect(window.first).toBe(-2);
    expect(window.linesBefore).toBe(0);
    expect(window.before).toEqual({ a: 0 });
    expect(window.after).toEqual({ a: 50 });
  });

  it('replaces a line that has grown, in its place', () => {
    const window = new LogWindow();
    window.reset(page([line(0), line(10, { partial: true, size: 3 })]));
    window.append([line(0, { stream: 'b' })], { b: 10 });
    expect(window.append([line(10, { text: 'whole' })], { a: 20 })).toBe(0);
    expect(window.lines.map(item => item.text)).toEqual([
      'line 0',
      'whole',
      'line 0'
    ]);
    expect(window.append([line(20)], { a: 30 })).toBe(1);
  });

  it('does not take the same line twice', () => {
    const window = new LogWindow();
    window.reset(page([line(0), line(10)]));
    expect(window.append([line(0), line(10), line(20)], { a: 30 })).toBe(1);
    expect(offsets(window)).toEqual([0, 10, 20]);
  });

  it('drops the start within its limits and knows what was dropped', () => {
    const window = new LogWindow({ lines: 3, characters: 1000 });
    window.reset(page([line(0), line(10)], { at_start: true, at_end: true }));
    window.append([line(20), line(30), line(40)], { a: 50 });
    window.dropStart();
    expect(offsets(window)).toEqual([20, 30, 40]);
    expect(window.first).toBe(2);
    expect(window.before).toEqual({ a: 20 });
    expect(window.linesBefore).toBe(2);
    expect(window.atStart).toBe(false);
    expect(window.atEnd).toBe(true);
  });

  it('drops the end, from where it can be read again', () => {
    const window = new LogWindow({ lines: 2, characters: 1000 });
    window.reset(page([line(20), line(30)], { at_end: true }));
    window.prepend(page([line(0), line(10)], { at_start: true }));
    expect(offsets(window)).toEqual([0, 10]);
    expect(window.after).toEqual({ a: 20 });
    expect(window.atEnd).toBe(false);
    window.append([line(20)], { a: 30 });
    expect(offsets(window)).toEqual([0, 10, 20]);
  });

  it('bounds characters as well as lines', () => {
    const window = new LogWindow({ lines: 100, characters: 50 });
    const long = 'x'.repeat(30);
    window.reset(page([line(0, { text: long })], { at_end: true }));
    window.append([line(10, { text: long })], { a: 20 });
    window.dropStart();
    expect(offsets(window)).toEqual([10]);
  });

  it('finds the line that holds a byte', () => {
    const window = new LogWindow();
    window.reset(page([line(0), line(10)]));
    expect(window.find('a', 13)).toBe(1);
    expect(window.find('a', 20)).toBeNull();
    expect(window.find('b', 0)).toBeNull();
  });
});
