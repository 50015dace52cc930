import { nullTranslator } from '@jupyterlab/translation';
import {
  axisOf,
  conditionOf,
  filterOf,
  isWithin,
  labelsOf,
  numberAt,
  positionOf
} from '../../../src/experiments/compare/relations/axes';
import {
  differenceOf,
  mainMetric,
  metricRows,
  ordered,
  parameterRows
} from '../../../src/experiments/compare/differences';
import { sectionsOf } from '../../../src/experiments/compare/sections';
import { commonFolder } from '../../../src/experiments/compare/model';
import {
  markdownOf,
  rowsOfReport,
  textOf
} from '../../../src/experiments/compare/report';
import { parseFilter } from '../../../src/common/filter/parse';
import { Goal } from '../../../src/experiments/types';
import { someMetric, someRun } from './someRun';

const trans = nullTranslator.load('');

const goalOf = (metric: string): Goal =>
  /loss/.test(metric) ? 'min' : /acc/.test(metric) ? 'max' : null;

const runs = [
  someRun({
    id: 'a',
    parameters: { lr: 0.001, model: 'vit', amp: true, same: 1 },
    metrics: {
      'val.acc': someMetric(0.1, 0.9),
      'train.loss': someMetric(0.2, 3)
    }
  }),
  someRun({
    id: 'b',
    parameters: { lr: 0.1, model: 'resnet', same: 1 },
    metrics: {
      'val.acc': someMetric(0.2, 0.95),
      'train.loss': someMetric(0.3, 3)
    }
  }),
  someRun({ id: 'c', parameters: { lr: 0.01, model: 'vit', same: 1 } })
];

describe('a comparison', () => {
  it('knows which parameters differ; a missing one is a difference', () => {
    const rows = parameterRows(runs);
    expect(rows.map(({ name, differs }) => [name, differs])).toEqual([
      ['lr', true],
      ['model', true],
      ['amp', true],
      ['same', false]
    ]);
    expect(rows[2].values).toEqual([true, undefined, undefined]);
    expect(
      parameterRows([someRun({ parameters: { constructor: 1 } }), someRun()])[0]
        .values
    ).toEqual([1, undefined]);
  });

  it('marks the best value of each metric', () => {
    expect(metricRows(runs, goalOf)).toMatchObject([
      { name: 'val.acc', values: [0.9, 0.95, undefined], best: [1] },
      { name: 'train.loss', values: [0.2, 0.3, undefined], best: [0] }
    ]);
    expect(differenceOf([0.9, 0.95])).toBeCloseTo(0.05);
    expect(differenceOf(['a', 1])).toBeNull();
  });

  it('hides equal metrics and durations until they are asked for', () => {
    const same = ['a', 'b'].map(id =>
      someRun({ id, seconds: 60, metrics: runs[0].metrics })
    );
    const names = (showEqual: boolean): string[] =>
      sectionsOf(same, goalOf, showEqual, trans)
        .flatMap(({ rows }) => rows)
        .map(({ name }) => name);
    expect(names(false)).toEqual([]);
    expect(names(true)).toEqual(
      expect.arrayContaining(['val.acc', 'train.loss', 'Duration'])
    );
  });

  it('writes metrics as other pages do, and parameters as the table of runs', () => {
    expect(textOf(0.0003, { isMetric: true })).toBe('0.0003');
    expect(textOf(0.00003, { isMetric: true })).toBe('3e-5');
    expect(textOf(0.0003, {})).toBe('3e-4');
    expect(textOf('<b>', {})).toBe('<b>');
  });

  it('orders runs by a metric of the validation', () => {
    expect(mainMetric(runs, goalOf)).toBe('val.acc');
    expect(ordered(runs, 'val.acc', 'max').map(({ id }) => id)).toEqual([
      'b',
      'a',
      'c'
    ]);
    expect(ordered(runs, 'train.loss', 'min').map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c'
    ]);
    expect(mainMetric([], goalOf)).toBeNull();
  });

  it('reads the runs of the folder that all have', () => {
    expect(commonFolder(['a/b/c', 'a/b', 'a/b/d'])).toBe('a/b');
    expect(commonFolder(['a', 'b'])).toBe('');
    expect(commonFolder([])).toBe('');
  });
});

describe('axes of parallel coordinates', () => {
  const lr = axisOf('lr', 'parameters', runs, goalOf);
  const model = axisOf('model', 'parameters', runs, goalOf);
  const loss = axisOf('train.loss', 'metrics', runs, goalOf);

  it('place numbers, on a log scale if they span much, and texts', () => {
    expect(lr.isLog).toBe(true);
    expect(runs.map(run => positionOf(lr, run))).toEqual([
      0,
      1,
      expect.closeTo(0.5)
    ]);
    expect(numberAt(lr, 0.5)).toBeCloseTo(0.01);
    expect(labelsOf(lr).map(({ value }) => value)).toEqual([0.001, 0.01, 0.1]);
    expect(labelsOf(model)).toEqual([
      { position: 0, value: 'resnet' },
      { position: 1, value: 'vit' }
    ]);
    expect(
      positionOf(axisOf('same', 'parameters', runs, goalOf), runs[0])
    ).toBe(0.5);
  });

  it('are turned if less is better', () => {
    expect(loss.isTurned).toBe(true);
    expect(positionOf(loss, runs[0])).toBe(1);
    expect(positionOf(loss, runs[2])).toBeNull();
  });

  it('select runs by ranges, which the filter of the table takes', () => {
    const brushes = new Map([
      [lr.key, [0, 0.6] as const],
      [model.key, [0.5, 1] as const]
    ]);
    expect(runs.map(run => isWithin(run, [lr, model], brushes))).toEqual([
      true,
      false,
      true
    ]);
    const filter = filterOf([lr, model], brushes);
    expect(filter).toBe('lr <= 0.0158489 and model in (vit)');
    expect(conditionOf(loss, [0.5, 1])).toBe('train.loss <= 0.25');
    const odd = axisOf(
      'a b',
      'parameters',
      [someRun({ parameters: { 'a b': 'x"y' } })],
      goalOf
    );
    expect(conditionOf(odd, [0, 1])).toBe("`a b` in ('x\"y')");
    const none = conditionOf(model, [0.4, 0.6]);
    expect(none).toBe('model in ("")');
    for (const text of [
      filter,
      none,
      conditionOf(loss, [0.5, 1]),
      conditionOf(odd, [0, 1])
    ]) {
      expect(() => parseFilter(text)).not.toThrow();
    }
  });
});

describe('the report of a comparison', () => {
  it('is Markdown in which names stay texts', () => {
    const labels = ['<img onerror=x>', 'b|c'];
    const two = [someRun({ note: 'a\nb' }), someRun()];
    const rows = [{ name: 'lr', values: [0.1, 'x'], best: [0], differs: true }];
    const text = markdownOf(labels, two, [{ title: 'Parameters', rows }], {
      title: 'Comparison',
      name: 'Name',
      best: 'best'
    });
    expect(text).toContain(
      '- **\\<img onerror=x\\>**: Complete · `.em/runs/run` · a b\n'
    );
    expect(text).toContain(
      '| Name | \\<img onerror=x\\> | b\\|c |\n| --- | ---: | ---: |\n'
    );
    expect(text).toContain('| lr | **0.1** (best) | x |\n');
    expect(rowsOfReport(labels, two, [{ title: '', rows }])[2]).toEqual([
      'lr',
      0.1,
      'x'
    ]);
  });
});
