import { nullTranslator } from '@jupyterlab/translation';
import { Curves } from '../../../src/experiments/charts/curves';
import {
  drawingOf,
  ILine,
  spreadOf
} from '../../../src/experiments/charts/drawing';
import {
  join,
  nearest,
  partsOf,
  smooth,
  suitsLog,
  valueAt
} from '../../../src/experiments/charts/lines';
import { formatValue } from '../../../src/experiments/charts/numbers';
import { ReadingLine } from '../../../src/experiments/charts/readingLine';
import { csvOf, fileName } from '../../../src/common/saveFile';
import { leftOutText } from '../../../src/experiments/charts/text';
import { Curve, CurvesRequest } from '../../../src/api/types';

const trans = nullTranslator.load('');

function someCurve(changes: Partial<Curve> = {}): Curve {
  const x = changes.x ?? [0, 1, 2];
  return {
    run: 'a',
    metric: 'loss',
    x,
    y: x.map(at => at + 1),
    means: null,
    count: x.length,
    not_finite: { count: 0, first_step: null, last_step: null },
    truncated: false,
    ...changes
  };
}

function someLine(changes: Partial<Curve> = {}): ILine {
  const curve = someCurve(changes);
  return { key: curve.run, label: curve.run, curve, style: 0, origin: 0 };
}

const LOOK = { x: 'step', smoothing: 0, log: true } as const;

describe('lines of a chart', () => {
  it('begin a new part where steps go back', () => {
    expect(partsOf({ x: [0, 5, 3, 6], y: [1, 2, 3, 4] })).toEqual([
      { x: [0, 5], y: [1, 2] },
      { x: [3, 6], y: [3, 4] }
    ]);
  });

  it('have gaps at values that are no finite numbers, also at those that the server leaves out', () => {
    expect(partsOf({ x: [0, 1, 2], y: [1, 'nan', '-inf'] })[0].y).toEqual([
      1,
      null,
      null
    ]);
    const not_finite = { count: 3, first_step: 3, last_step: 5 };
    const { x, y } = drawingOf(
      [someLine({ x: [0, 1, 2, 8], not_finite })],
      LOOK
    );
    expect(x).toEqual([0, 1, 2, 3, 5, 8]);
    expect(y).toEqual([[1, 2, 3, null, null, 9]]);
  });

  it('are smoothed as in TensorBoard, and a gap stays a gap', () => {
    expect(smooth([1, null, 1, 1], 0.9)).toEqual([
      expect.closeTo(1),
      null,
      expect.closeTo(1),
      expect.closeTo(1)
    ]);
    expect(smooth([0, 1], 0.5)).toEqual([0, expect.closeTo(2 / 3)]);
  });

  it('have the raw values behind a smoothed line, but few values are not smoothed', () => {
    const x = Array.from({ length: 50 }, (_, index) => index);
    const look = { ...LOOK, smoothing: 0.6 };
    expect(drawingOf([someLine({ x })], look).strokes).toEqual([
      { line: 0, isRaw: true },
      { line: 0, isRaw: false }
    ]);
    expect(drawingOf([someLine({ x: x.slice(1) })], look).strokes).toEqual([
      { line: 0, isRaw: false }
    ]);
  });

  it('are smoothed by the means of the values for which their points stand', () => {
    const x = Array.from({ length: 50 }, (_, index) => index);
    const y = x.map(at => (at % 2 ? 100 : 0));
    const line = someLine({ x, y, means: x.map(() => 0.5), count: 1e6 });
    const { y: drawn } = drawingOf([line], { ...LOOK, smoothing: 0.6 });
    expect(drawn).toEqual([y, x.map(() => expect.closeTo(0.5))]);
  });

  it('get a log scale only above 0 and over more than a factor of 50', () => {
    const part = (...y: number[]) => [{ x: y.map((_, i) => i), y }];
    expect(suitsLog(part(1, 51))).toBe(true);
    expect(suitsLog(part(1, 50))).toBe(false);
    expect(suitsLog(part(0, 100))).toBe(false);
    expect(suitsLog([])).toBe(false);
  });

  it('share their x values; equal steps of a part are kept', () => {
    const joined = join([
      { x: [1, 1, 3], y: [1, 2, 3] },
      { x: [2, 3], y: [null, 5] }
    ]);
    expect(joined.x).toEqual([1, 1, 2, 3]);
    expect(joined.y[0]).toEqual([1, 2, undefined, 3]);
    expect([...joined.y[1]]).toEqual([undefined, undefined, null, 5]);
  });

  it('tell their value at a position, or the last one', () => {
    const parts = partsOf({ x: [0, 10, 5, 8], y: [1, 2, 3, 4] });
    expect(valueAt(parts, 6)).toBe(3);
    expect(valueAt(parts, 9)).toBe(2);
    expect(valueAt(parts, 11)).toBeNull();
    expect(valueAt(parts, null)).toBe(4);
    expect([0, 1.4, 1.6, 9].map(at => nearest([0, 1, 2], at))).toEqual([
      0, 1, 2, 2
    ]);
    expect(nearest([], 3)).toBe(-1);
  });

  it('of many runs become their mean and extremes', () => {
    const curves = [
      someCurve({ x: [0, 2], y: [0, 2] }),
      someCurve({ x: [0, 1, 2], y: [4, 'nan', 4] })
    ];
    const spread = spreadOf(curves, 3);
    expect(spread?.mean).toMatchObject({ x: [0, 1, 2], y: [2, 2.5, 3] });
    expect(spread?.least.y).toEqual([0, 1, 2]);
    expect(spread?.greatest.y).toEqual([4, 4, 4]);
    expect(spreadOf([], 3)).toBeNull();
  });

  it('of many runs, of which each point stands for several values, have the mean of these', () => {
    const x = Array.from({ length: 1000 }, (_, index) => index);
    const y = x.map(at => (at % 2 ? 100 : 0));
    const one = someCurve({ x, y, means: x.map(() => 0.5) });
    const spread = spreadOf([one, { ...one, means: x.map(() => 1.5) }], 10);
    expect(spread?.mean.y).toEqual(Array(10).fill(1));
    expect(spread?.least.y).toEqual(Array(10).fill(0));
    expect(spread?.greatest.y).toEqual(Array(10).fill(100));
  });

  it.each([500, 1000])('of many runs end at the last step, %d', last => {
    const x = Array.from({ length: last + 1 }, (_, index) => index);
    const spread = spreadOf([someCurve({ x, y: x })], 200);
    expect(spread?.mean.x).toHaveLength(200);
    expect(spread?.mean.x[199]).toBe(last);
    expect(spread?.mean.y[199]).toBe(last);
  });

  it('say what is not drawn', () => {
    const not_finite = { count: 3, first_step: 38, last_step: 40 };
    expect(leftOutText([someCurve({ not_finite })], trans)).toBe(
      '3 values were not finite numbers, steps 38 to 40: not drawn.'
    );
    expect(leftOutText([someCurve()], trans)).toBe('');
  });
});

describe('the reading line', () => {
  it('follows the pointer until a click holds it, and moves by points', () => {
    const line = new ReadingLine();
    const x = [0, 10, 20, 30];
    line.follow(12);
    line.click(12);
    line.follow(25);
    expect([line.at, line.isHeld]).toEqual([12, true]);
    line.step(x, 1);
    expect(line.at).toBe(20);
    line.step(x, -Infinity);
    expect(line.at).toBe(0);
    line.step(x, 10);
    expect(line.at).toBe(30);
    line.release();
    expect([line.at, line.isHeld]).toEqual([null, false]);
    line.step(x, -1);
    expect(line.at).toBe(30);
    line.step([], 1);
    expect(line.at).toBe(30);
  });

  it('zooms around itself, and out to all values', () => {
    const line = new ReadingLine();
    line.click(20);
    line.zoomBy([0, 100], 0.5);
    expect(line.range).toEqual([10, 60]);
    line.zoomBy([0, 100], 4);
    expect(line.range).toBeNull();
  });
});

describe('curves', () => {
  const pass = () => jest.advanceTimersByTimeAsync(50);
  let requests: CurvesRequest[];
  let curves: Curves;

  beforeEach(() => {
    jest.useFakeTimers();
    requests = [];
    curves = new Curves(
      async request => {
        requests.push(request);
        const problem = 'The disk does not answer.';
        return {
          curves: request.metrics.map(metric =>
            someCurve({ metric, x: [3, 9] })
          ),
          left_out: [{ runs: ['b'], problem }]
        };
      },
      { runs: ['a'], x: 'step', width: 400.4, range: null }
    );
  });

  afterEach(() => {
    curves.dispose();
    jest.useRealTimers();
  });

  it('are loaded in one request when they come into view, and again after changes while they are in view', async () => {
    const hide = curves.show(['loss']);
    curves.show(['accuracy']);
    await pass();
    expect(requests).toEqual([
      { runs: ['a'], metrics: ['loss', 'accuracy'], x: 'step', width: 400 }
    ]);
    expect(curves.get('loss')).toHaveLength(1);
    expect(curves.extent).toEqual([3, 9]);
    expect(curves.leftOut[0].runs).toEqual(['b']);
    hide();
    curves.setView({ ...curves.view, range: [4, 5] });
    await pass();
    expect(requests[1]).toMatchObject({
      metrics: ['accuracy'],
      first: 4,
      last: 5
    });
    curves.setView({ ...curves.view });
    await pass();
    expect(requests).toHaveLength(2);
  });

  it('of many metrics are loaded in several requests', async () => {
    curves.show(Array.from({ length: 70 }, (_, index) => `m${index}`));
    await pass();
    await pass();
    expect(requests.map(({ metrics }) => metrics.length)).toEqual([50, 20]);
  });

  it('of many runs are loaded in several requests', async () => {
    const runs = Array.from({ length: 150 }, (_, index) => `run-${index}`);
    curves.setView({ ...curves.view, runs });
    curves.show(['loss']);
    await pass();
    expect(requests.map(request => request.runs.length)).toEqual([100, 50]);
    expect(curves.get('loss')).toHaveLength(2);
    expect(curves.leftOut).toHaveLength(1);
  });
});

describe('texts', () => {
  it('show numbers in short', () => {
    const values = [0, 3661, 0.98741, 1.78e-5, -2, 12345.6, 1.5e9, 'nan'];
    expect(values.map(value => formatValue(value as number))).toEqual([
      '0',
      '3\u202f661',
      '0.9874',
      '1.78e-5',
      '-2',
      '12\u202f346',
      '1.5e9',
      'NaN'
    ]);
  });

  it('become safe CSV and names of files', () => {
    expect(csvOf([['=1+1', 'a "b", c', -1.5, '-1.5', null, '<img>']])).toBe(
      `'=1+1,"a ""b"", c",-1.5,-1.5,,<img>\r\n`
    );
    expect(fileName('../val/loss <x>', 'csv')).toBe('val-loss-x.csv');
    expect(fileName('…', 'png')).toBe('experiment.png');
  });
});
