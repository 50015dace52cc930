import { nullTranslator } from '@jupyterlab/translation';
import { Replica, ResourceRow, ResourceView } from '../../../../src/api/types';
import {
  formatIn,
  formatTicks,
  formatWithUnit,
  scaleOf
} from '../../../../src/job/resources/amounts';
import { ResourcesClient } from '../../../../src/job/resources/client';
import {
  arrangementOf,
  markersOn,
  plotData,
  stretchesOf,
  timeLabels,
  topOf
} from '../../../../src/job/resources/layout';
import { ResourcesModel } from '../../../../src/job/resources/model';
import { factsOf, legendOf } from '../../../../src/job/resources/names';

const trans = nullTranslator.load('jupyterlab_t9kjob');
const GIB = 1024 ** 3;

type Curve = ResourceRow['curves'][number];

function curve(replica: string | null, part: Curve['part'] = 'replica'): Curve {
  const values = [1, 2, null];
  return {
    ...{ part, replica, number: null },
    ...{ low: values, mean: values, high: values }
  };
}

function row(curves: Curve[], levels: ResourceRow['levels'] = []): ResourceRow {
  return {
    ...{ metric: 'cpu', title: 'CPU', unit: 'cores', scope: null },
    ...{ facts: [], curves, levels, missing: null }
  };
}

function view(curves: Curve[], more: Partial<ResourceView> = {}): ResourceView {
  return {
    ...{ version: '1', source: 'processes', source_label: 'every 5 s' },
    ...{ interval: 5, resolution: 5, first: 10, last: 100 },
    ...{ times: [10, 15, 60], gaps: [2], rows: [row(curves)], replicas: [] },
    ...{ findings: [], unavailable: null, trouble: null },
    usage: {
      ...{ gpu_hours: null, gpu_hours_source: null },
      ...{ energy_joules: null, energy_source: null }
    },
    ...more
  };
}

describe('resources of a job', () => {
  it('has the error that ends a job, and no line of a time without samples', () => {
    const markers = [9, 10, 60, 69, 71].map(time => ({
      ...{ kind: 'error' as const, time, stream: 's', offset: time },
      ...{ replica: 'worker-0', text: 'failed' }
    }));
    const shown = markersOn(view([]), markers).map(({ time }) => time);
    expect(shown).toEqual([10, 60, 69]);
  });

  it('has no label of a time that the edge of the chart would cut', () => {
    const labels = timeLabels([0, 600, 1170, 1200], [0, 1200], 608, 8);
    expect(labels.map(label => label !== '')).toEqual([
      true,
      true,
      true,
      false
    ]);
  });

  it('shows values in units that suit the row', () => {
    const memory = scaleOf('bytes', 64 * GIB, trans);
    expect(memory.name).toBe('GiB');
    expect(formatIn(64.14 * GIB, memory)).toBe('64.1');
    expect(formatIn(null, memory)).toBe('–');
    expect(formatWithUnit(4.4e9, 'bytes_per_second', trans)).toBe('4.4 GB/s');
    expect(formatWithUnit(0.42, 'cores', trans)).toBe('0.42 cores');
    expect(formatWithUnit(0.0042, 'cores', trans)).toBe('0.0042 cores');
  });

  it.each([
    [[0, 0.002, 0.004, 0.006], '0 0.002 0.004 0.006'],
    [[0, 0.25, 0.5], '0 0.25 0.50'],
    [[0, 0.1, 0.2, 0.1 + 0.2], '0 0.1 0.2 0.3'],
    [[0, 50, 100], '0 50 100'],
    [[0, 2.5, 5], '0 2.5 5.0'],
    [[0, 0.00005, 0.0001], '0 5e-5 1e-4'],
    [[0], '0'],
    [[], '']
  ])('labels an axis so that its values differ: %j', (values, labels) => {
    expect(formatTicks(values).join(' ')).toBe(labels);
  });

  it('puts up to three replicas side by side, then one metric at a time', () => {
    const replicas = (count: number): Curve[] =>
      Array.from({ length: count }, (_, index) => curve(`worker-${index}`));
    expect(arrangementOf(view(replicas(1)))).toBe('metrics');
    expect(arrangementOf(view(replicas(3)))).toBe('columns');
    expect(arrangementOf(view(replicas(4)))).toBe('replicas');
    expect(arrangementOf(view([curve(null, 'spread')]))).toBe('metrics');
  });

  it('draws a gap as a gap, never as 0', () => {
    const { x, y } = plotData(view([]), [[1, 2, 3]]);
    expect(x).toEqual([10, 15, 37.5, 60]);
    expect(y).toEqual([[1, 2, null, 3]]);
  });

  it('leaves out lines far above the values', () => {
    const level = (value: number): ResourceRow['levels'][number] => ({
      ...{ kind: 'limit', value, label: `limit ${value}` }
    });
    const { top, levels } = topOf(row([curve(null)], [level(4), level(400)]));
    expect(levels.map(({ value }) => value)).toEqual([4]);
    expect(top).toBeCloseTo(4.4);
  });

  it('names the curves in the legend once', () => {
    const ranks = [0, 1].map(number => ({
      ...curve('worker-0', 'rank'),
      number
    }));
    const rows = [row(ranks), { ...row([curve(null, 'job')]), metric: 'net' }];
    expect(legendOf(view([], { rows }), false, trans)).toEqual([
      'rank 0',
      'rank 1'
    ]);
  });

  it('has no legend for curves that their column names', () => {
    const columns = view([curve('worker-0'), curve('worker-1')]);
    expect(legendOf(columns, true, trans)).toEqual([]);
    expect(legendOf(columns, false, trans)).toEqual(['worker-0', 'worker-1']);
  });

  it('says that the peak beside the curves of ranks is that of the whole job', () => {
    const facts = ['most 397 MiB', 'mean 280 MiB'];
    const sum = { ...row([curve(null, 'job')]), facts };
    expect(factsOf(sum, trans)).toEqual(facts);
    for (const part of ['rank', 'gpu', 'replica', 'spread'] as const) {
      const parts = { ...row([curve('worker-0', part)]), facts };
      expect(factsOf(parts, trans)).toEqual([
        'whole job: most 397 MiB · mean 280 MiB'
      ]);
    }
    expect(factsOf(row([curve('worker-0', 'rank')]), trans)).toEqual([]);
  });

  it('shows the attempts of the replica', () => {
    const attempt = {
      ...{ exit_code: 1, ended: 'Error (1)', worker_restarts: 0, restart: null }
    };
    const replica = {
      name: 'worker-0',
      attempts: [
        { ...attempt, number: 1, started_at: 10, ended_at: 20 },
        { ...attempt, number: 2, started_at: null, ended_at: null }
      ]
    } as unknown as Replica;
    expect(stretchesOf([replica], 'worker-0')).toEqual([
      { number: 1, first: 10, last: 20, ended: 'Error (1)' }
    ]);
  });

  it('asks only while the tab is shown, and waits for newer samples', async () => {
    const asked: (string | undefined)[] = [];
    let markers = 0;
    let answer: (value: ResourceView) => void = () => undefined;
    const client = {
      resources: (_id: string, query: { version?: string }) => {
        asked.push(query.version);
        return query.version === undefined
          ? Promise.resolve(view([]))
          : new Promise<ResourceView>(resolve => {
              answer = resolve;
            });
      },
      logMarkers: () => {
        markers++;
        return Promise.resolve({ markers: [], complete: true });
      }
    } as unknown as ResourcesClient;
    const model = new ResourcesModel(client, 'local::a:1', 'unit');
    const settled = (): Promise<void> =>
      new Promise(resolve => setTimeout(resolve));
    await settled();
    expect(asked).toEqual([]);
    model.setActive(true, true);
    await settled();
    expect(asked).toEqual([undefined, '1']);
    model.setActive(false, true);
    answer(view([], { version: '2' }));
    await settled();
    expect(asked).toEqual([undefined, '1']);
    expect(model.view?.version).toBe('1');
    expect(markers).toBe(1);
    model.setActive(true, false);
    await settled();
    expect(asked).toEqual([undefined, '1', undefined]);
    expect(markers).toBe(2); // that of the error that ended the job
    model.dispose();
  });
});
