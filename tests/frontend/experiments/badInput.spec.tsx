/** Names and values that nobody expects, on every page of the experiments: shown as they are, and nothing runs. */
import { nullTranslator } from '@jupyterlab/translation';
import { act, fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { Curve, RunDetail, RunRow, RunTable } from '../../../src/api/types';
import { ExperimentsClient } from '../../../src/experiments/client';
import { CompareModel } from '../../../src/experiments/compare/model';
import { CompareView } from '../../../src/experiments/compare/CompareView';
import { ExperimentsModel } from '../../../src/experiments/model/experiments';
import { RunStore } from '../../../src/experiments/model/runStore';
import { StepValues } from '../../../src/experiments/model/stepValues';
import { DEFAULT_VIEW } from '../../../src/experiments/model/view';
import { RunModel } from '../../../src/experiments/run/model/run';
import { IRunLab } from '../../../src/experiments/run/pageLab';
import { RunView } from '../../../src/experiments/run/RunView';
import {
  ITableActions,
  RunsTable
} from '../../../src/experiments/table/rows/RunsTable';
import './flow/flowFakes'; // an observer of sizes, which jsdom lacks
import { someMetric, someRun, someTable } from './runFakes';

const trans = nullTranslator.load('');
const HOSTILE = '<img src=x onerror=alert(1)>';
const LONG = 'x'.repeat(10_000);

/** A run with everything that a file may say. */
function badRun(id: string, changes: Partial<RunRow> = {}): RunRow {
  return {
    ...someRun(HOSTILE),
    id,
    path: `.em/runs/${id}`,
    labels: [LONG, HOSTILE, HOSTILE, 'job=a', 'job-uid=b'],
    tags: [HOSTILE],
    note: LONG,
    sentence: HOSTILE,
    parameters: {
      [HOSTILE]: HOSTILE,
      long: LONG,
      constructor: 1,
      __proto__x: 'nan'
    },
    environment: { toString: 'x', host: HOSTILE },
    metrics: {
      [`${HOSTILE}.loss`]: someMetric('nan', { min: null, max: null }),
      'train.constructor': someMetric('inf', { min: null, max: null }),
      'train.hasOwnProperty': someMetric(1e308),
      toString: someMetric('-inf', { min: null, max: null })
    },
    ...changes
  };
}

const curveOf = (run: string, metric: string): Curve => ({
  ...{ run, metric, means: null, count: 5, truncated: false },
  x: [1, 2, 3, 1, 2],
  y: [1, 'nan', 3, 'inf', -1e308],
  not_finite: { count: 2, first_step: 1, last_step: 2 }
});

function detailOf(run: RunRow): RunDetail {
  return {
    run,
    parameters: Object.entries(run.parameters).map(([name, value]) => ({
      ...{ name, value }
    })),
    description: LONG,
    environment: run.environment,
    packages: { [HOSTILE]: HOSTILE },
    git: { commit: LONG },
    metrics: Object.keys(run.metrics),
    files: [{ path: `${run.path}/${HOSTILE}`, size: 1e9, modified_at: 1 }],
    inputs: [
      {
        ...{ id: null, kind: 'Model', name: HOSTILE },
        path: null,
        place: null,
        found: false
      }
    ],
    ...{
      outputs: [],
      checkpoints: [],
      checkpoint_files: [],
      attempts: [],
      sources: {},
      problems: [HOSTILE, LONG]
    }
  };
}

/** The server: all runs, and curves whose steps go back. */
function clientOf(runs: RunRow[]): ExperimentsClient {
  const byId = new Map(runs.map(run => [run.id, run]));
  return {
    runs: jest
      .fn<Promise<RunTable>, []>()
      .mockResolvedValueOnce(someTable(runs))
      .mockReturnValue(new Promise(() => undefined)),
    run: async (id: string) => detailOf(byId.get(id) ?? runs[0]),
    curves: async ({
      runs: ids,
      metrics
    }: {
      runs: string[];
      metrics: string[];
    }) => ({
      curves: ids.flatMap(id => metrics.map(metric => curveOf(id, metric))),
      left_out: []
    })
  } as unknown as ExperimentsClient;
}

const LOOK = { x: 'step', smoothing: 0.6, log: true, asTable: true } as const;
const lab = {
  hasArtifacts: true,
  logDirs: () => [],
  notifyError: jest.fn()
} as unknown as IRunLab;

/** Nothing of the texts became an element. */
function expectPlain(): void {
  expect(document.querySelector('img, [onerror]')).toBeNull();
}

describe('bad input of the experiments', () => {
  it('is text in the table', async () => {
    const runs = [
      badRun('1', {
        job: {
          ...{ id: 'j', engine: 'e', namespace: '' },
          uid: 'u',
          name: LONG
        }
      }),
      badRun('2', { parameters: {}, metrics: {}, environment: {} })
    ];
    const view = { ...DEFAULT_VIEW, group: `p:${HOSTILE}` };
    const store = new RunStore(clientOf(runs), {
      folder: '',
      metrics: [],
      curves: []
    });
    const model = new ExperimentsModel({
      ...{
        store,
        view
      },
      views: {},
      steps: new StepValues({ valuesAt: () => new Promise(() => undefined) }),
      sweepOf: () => null
    });
    model.store.isActive = true;
    await act(async () => undefined);
    const keys = model.allColumns.map(({ key }) => key);
    model.change({ columns: keys });
    const actions = { openRun: jest.fn() } as unknown as ITableActions;
    render(<RunsTable {...{ model, actions, trans }} width={1400} />);
    expectPlain();
    expect(screen.getAllByText(HOSTILE).length).toBeGreaterThan(5);
    expect(screen.getAllByText(LONG).length).toBeGreaterThan(1);
    expect(screen.getAllByRole('row')).toHaveLength(5); // head, two groups, two runs
    screen.getByText('-∞');
    expect(screen.queryByText('job=a')).toBeNull();
    model.dispose();
    store.dispose();
  });

  it('is text on the page of a run, and values are named that no chart draws', async () => {
    const model = new RunModel({
      ...{
        client: clientOf([badRun('1')]),
        id: '1',
        look: LOOK,
        saveLook: jest.fn()
      }
    });
    model.setVisible(true);
    render(<RunView model={model} lab={lab} trans={trans} />);
    await screen.findByRole('heading', { name: HOSTILE });
    const missing = screen.getByText('Parts of this run could not be read.');
    expect(missing.parentElement?.textContent).toContain(`${HOSTILE} ${LONG}`);
    screen.getByRole('rowheader', { name: 'toString' });
    screen.getByRole('cell', { name: '1e308' });
    expect(screen.getAllByText(LONG).length).toBeGreaterThan(2); // label, note, description
    for (const tab of [/^Parameters/, /^Environment/, /^Files/]) {
      fireEvent.click(screen.getByRole('tab', { name: tab }));
      // The page renders at most every 250 ms.
      await screen.findByRole('tab', { name: tab, selected: true });
      expect(screen.getAllByText(HOSTILE).length).toBeGreaterThan(1);
      expectPlain();
    }
    fireEvent.click(screen.getByRole('tab', { name: /^Parameters/ }));
    await screen.findByRole('row', { name: 'constructor 1' });
    model.dispose();
  });

  it('is text in a comparison, and in its report', async () => {
    const runs = [badRun('1'), badRun('2', { parameters: { [HOSTILE]: 1 } })];
    const model = new CompareModel({
      ...{
        client: clientOf(runs),
        ids: ['1', '2'],
        look: LOOK,
        saveLook: jest.fn()
      }
    });
    model.setVisible(true);
    render(<CompareView model={model} lab={lab} trans={trans} />);
    await screen.findByRole('heading', { name: '2 runs' });
    fireEvent.click(screen.getByLabelText('Show equal values too'));
    await screen.findByRole('row', { name: /^train\.hasOwnProperty/ });
    expectPlain();
    screen.getByRole('row', {
      name: new RegExp(
        `^${HOSTILE.replace(/[()]/g, '\\$&')} ${HOSTILE.replace(/[()]/g, '\\$&')} 1`
      )
    });
    screen.getByRole('row', { name: /^train\.hasOwnProperty/ });
    model.dispose();
  });
});
