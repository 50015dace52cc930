import { addressSearch, pageOfAddress } from '../../../src/experiments/address';
import { namesOf, pandasOf } from '../../../src/experiments/run/actions';
import { markedMetric } from '../../../src/experiments/run/model/best';
import {
  chartsOf,
  splitMetric,
  typesOf
} from '../../../src/experiments/run/model/metricGroups';
import { Positions } from '../../../src/experiments/run/model/positions';
import { tensorBoardPaths } from '../../../src/experiments/run/model/tensorBoard';
import { someRun } from './someRun';

describe('metrics of a run', () => {
  it('have a type before the dot, or before the slash of a tag', () => {
    expect(splitMetric('val.accuracy')).toEqual({
      type: 'val',
      title: 'accuracy'
    });
    expect(splitMetric('train/loss')).toEqual({ type: 'train', title: 'loss' });
    expect(splitMetric('gpu/util.mean')).toEqual({
      type: '',
      title: 'gpu/util.mean'
    });
    expect(splitMetric('loss')).toEqual({ type: '', title: 'loss' });
    expect(typesOf(['z.a', 'val.a', 'b', 'train.a'])).toEqual([
      'train',
      'val',
      '',
      'z'
    ]);
  });

  it('mark the best value of the validation or the last type, never that of a test', () => {
    const marked = (...types: string[]) =>
      markedMetric(types.map(type => ({ name: `${type}.loss`, type })))?.type;
    expect(marked('train', 'val', 'test')).toBe('val');
    expect(marked('train', 'test')).toBe('train');
    expect(marked('test')).toBeUndefined();
  });

  it('of equal names share a chart, and long families are folded', () => {
    const family = Array.from({ length: 7 }, (_, i) => `val.f1.class${i}`);
    const { charts, families } = chartsOf([
      'val.loss',
      'train.loss',
      'train.opt.lr',
      ...family
    ]);
    expect(charts).toEqual([
      {
        title: 'loss',
        metrics: [
          { name: 'train.loss', type: 'train' },
          { name: 'val.loss', type: 'val' }
        ]
      },
      { title: 'opt.lr', metrics: [{ name: 'train.opt.lr', type: 'train' }] }
    ]);
    expect(families).toMatchObject([{ prefix: 'f1', charts: { length: 7 } }]);
  });
});

describe('positions of a run', () => {
  const curve = (x: number[]) => ({
    ...{ run: 'a', metric: 'loss', x, y: x, means: null },
    ...{ count: x.length, truncated: false },
    not_finite: { count: 0, first_step: null, last_step: null }
  });

  it('are read from one axis for the others, the last attempt where steps went back', () => {
    const positions = new Positions({
      step: curve([0, 10, 5, 10]),
      epoch: undefined,
      time: curve([100, 110, 120, 130])
    });
    expect(positions.at(9, 'step')).toEqual({
      step: 10,
      epoch: null,
      time: 130
    });
    expect(positions.at(111, 'time')).toEqual({
      step: 10,
      epoch: null,
      time: 110
    });
    expect(positions.at(1, 'epoch')).toBeNull();
  });
});

describe('actions on runs', () => {
  it('tell runs of equal names apart', () => {
    const runs = [
      someRun({ id: '1', name: 'a', suffix: 'x' }),
      someRun({ id: '2', name: 'a', suffix: 'x' }),
      someRun({ id: '3', name: 'b', suffix: 'y' })
    ];
    expect(namesOf(runs)).toEqual(['a (x)', 'a (2)', 'b']);
  });

  it('copy code that names cannot break', () => {
    const run = someRun({
      name: '"); import os #',
      parameters: { lr: 0.1, ok: true, none: null }
    });
    expect(pandasOf([run])).toContain(
      String.raw`"name": "\"); import os #", "status": "complete", "lr": 0.1, "ok": True, "none": None`
    );
  });

  it('send event files to TensorBoard: folders of events, and logs of jobs', () => {
    const job = { id: 'j', engine: 'e', namespace: '', uid: 'u', name: 'n' };
    const runs = [
      someRun({ origin: 'events', path: 'tb' }),
      someRun({ job }),
      someRun({ job }),
      someRun({})
    ];
    expect(tensorBoardPaths(runs, { logDirs: () => ['logs'] })).toEqual([
      'tb',
      'logs'
    ]);
  });

  it('copy addresses that open the same page, and no others', () => {
    const place = { page: 'comparison', ids: ['1f', '2-e'] };
    expect(pageOfAddress(addressSearch(place))).toEqual(place);
    expect(pageOfAddress('?t9kjob-experiments=other:1')).toBeNull();
    expect(pageOfAddress('?t9kjob-experiments=run:..%2F')).toBeNull();
    expect(pageOfAddress('?x')).toBeNull();
  });
});
