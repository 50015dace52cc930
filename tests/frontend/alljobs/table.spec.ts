/** The table of jobs: filters, groups, order, parts of a selection, CSV. */
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { DisposableDelegate } from '@lumino/disposable';
import { JobSummary } from '../../../src/api/types';
import { consequencesOf } from '../../../src/alljobs/confirm';
import {
  endedBefore,
  partOf,
  requestsOf
} from '../../../src/alljobs/model/bulk';
import { rowsOfJobs } from '../../../src/alljobs/model/csv';
import { allColumns } from '../../../src/alljobs/model/columns';
import { gpuHours, waitedOf } from '../../../src/alljobs/model/facts';
import { csvOf } from '../../../src/common/saveFile';
import { optionsOf } from '../../../src/common/options';
import { JobTableModel } from '../../../src/alljobs/model/table';
import {
  BUILT_IN_VIEWS,
  DEFAULT_VIEW,
  readView
} from '../../../src/alljobs/model/view';
import { fittingColumns } from '../../../src/alljobs/view/layout';
import { IJobsModel } from '../../../src/tokens';
import { someJob, someReason } from '../fakes';

const trans = nullTranslator.load('');
const DAY = 86400;

function job(name: string, changes: Partial<JobSummary> = {}): JobSummary {
  return someJob({ name, id: `local::${name}:${name}`, ...changes });
}

function ended(name: string, changes: Partial<JobSummary> = {}): JobSummary {
  return job(name, {
    phase: 'Succeeded',
    running_since: null,
    ran_seconds: 3600,
    ended_at: 5000,
    actions: ['rerun', 'delete', 'remove'],
    ...changes
  });
}

function member(number: number, created_at: number): JobSummary {
  return ended(`lr-${number}`, {
    created_at,
    sweep: {
      ...{ id: 'ab', name: 'lr', number, round: 0, at_a_time: 1 },
      ...{ on_failure: 'continue', rule: null, values: { '--lr': `${number}` } }
    }
  });
}

/** A model of jobs, and a function that replaces them. */
function tableOf(jobs: JobSummary[]) {
  const source = {
    jobs: jobs as readonly JobSummary[],
    engines: [],
    deleted: {
      jobs: [ended('gone', { deleted: true })],
      error: null,
      watch: () => new DisposableDelegate(() => undefined)
    },
    changed: new Signal<unknown, void>({})
  };
  const model = new JobTableModel({
    jobs: source as unknown as IJobsModel,
    view: DEFAULT_VIEW,
    views: {},
    chosen: 'all',
    trans
  });
  return { model, source };
}

const names = (model: JobTableModel): string[] =>
  model.shown.map(({ name }) => name);

describe('order and groups', () => {
  it('puts problems first, then active jobs, then the newest', () => {
    const { model } = tableOf([
      ended('old', { created_at: 10 }),
      ended('new', { created_at: 90 }),
      job('active', { created_at: 20 }),
      job('stuck', {
        created_at: 15,
        stalled: { kind: 'progress', since: 1, finding: null }
      })
    ]);
    expect(names(model)).toEqual(['stuck', 'active', 'new', 'old']);
    model.change({ order: { key: 'created', down: false } });
    expect(names(model)).toEqual(['old', 'stuck', 'active', 'new']);
  });

  it.each([
    [
      ['train-10', 'Train-9', 'eval-2'],
      ['eval-2', 'Train-9', 'train-10']
    ],
    [
      ['übung-10', 'übung-9', 'eval-2'],
      ['eval-2', 'übung-9', 'übung-10']
    ]
  ])('sorts names without case, with numbers by value', (given, sorted) => {
    const { model } = tableOf(
      given.map((name, index) => job(name, { created_at: index }))
    );
    model.change({ order: { key: 'name', down: false } });
    expect(names(model)).toEqual(sorted);
    model.change({ filter: '-9' });
    model.change({ filter: '' });
    expect(names(model)).toEqual(sorted);
    model.change({ order: { key: 'name', down: true } });
    expect(names(model)).toEqual([...sorted].reverse());
  });

  it('shows a sweep as one row of its day, with its jobs by number', () => {
    const { model } = tableOf([
      member(2, 10 * DAY + 50),
      member(1, 10 * DAY + 49),
      ended('single', { created_at: 10 * DAY + 60 }),
      ended('earlier', { created_at: 8 * DAY })
    ]);
    const texts = (): string[] =>
      model.rows.map(row =>
        row.kind === 'job' ? row.job.name : `${row.kind} ${row.jobs.length}`
      );
    expect(texts()).toEqual([
      ...['group 3', 'single', 'sweep 2', 'lr-1', 'lr-2'],
      ...['group 1', 'earlier']
    ]);
    const sweep = model.rows[2];
    model.toggle(sweep.key);
    expect(texts()).not.toContain('lr-1');
    model.change({ group: '' });
    expect(texts()).toEqual(['single', 'lr-2', 'lr-1', 'earlier']);
  });

  it('keeps the order while the pointer is in the table; a new job comes first', () => {
    const first = [job('b', { created_at: 2 }), job('a', { created_at: 1 })];
    const { model, source } = tableOf(first);
    model.hold(true);
    source.jobs = [
      ...[job('c', { created_at: 9 }), ended('b', { created_at: 2 })],
      first[1]
    ];
    expect(names(model)).toEqual(['c', 'b', 'a']);
    model.hold(false);
    expect(names(model)).toEqual(['c', 'a', 'b']);
  });
});

describe('filter and views', () => {
  const jobs = [
    job('vit', { devices: { name: 'gpu', count: 8 }, nodes: ['node-3'] }),
    ended('bert', { devices: { name: 'gpu', count: 1 }, owner: 'wei' }),
    ended('cpu', { phase: 'Failed', mine: false })
  ];

  it('finds words in names, nodes and states, and applies expressions', () => {
    const { model } = tableOf(jobs);
    model.change({ filter: 'node-3 RUNNING' });
    expect(names(model)).toEqual(['vit']);
    model.change({ filter: 'gpus >= 1 and not owner = wei' });
    expect(names(model)).toEqual(['vit']);
    model.change({ filter: 'gpu > 1' });
    expect(model.problem?.suggestion).toBe('gpus');
    expect(model.shown).toHaveLength(3);
  });

  it('counts the jobs of views, and adds deleted jobs on demand', () => {
    const { model } = tableOf(jobs);
    expect(model.count(BUILT_IN_VIEWS.active)).toBe(1);
    expect(model.count(BUILT_IN_VIEWS.hours)).toBe(2);
    expect(model.count(BUILT_IN_VIEWS.failed)).toBe(0);
    model.change({ deleted: true });
    expect(names(model)).toContain('gone');
  });

  it('reads kept views and ignores what is invalid', () => {
    const kept = { states: ['failed', 'lost'], group: 'week', order: 3 };
    expect(readView(kept)).toEqual({ ...DEFAULT_VIEW, states: ['failed'] });
    expect(readView(JSON.parse(JSON.stringify(BUILT_IN_VIEWS.hours)))).toEqual(
      BUILT_IN_VIEWS.hours
    );
  });

  it('shows all jobs after the shown view was deleted', () => {
    const { model } = tableOf(jobs);
    const failed = { ...DEFAULT_VIEW, states: ['failed' as const] };
    model.views = { mine: failed, other: DEFAULT_VIEW };
    model.choose('own:mine', failed);
    expect(names(model)).toEqual(['cpu']);
    model.deleteView('other');
    expect(model.chosen).toBe('own:mine');
    model.deleteView('mine');
    expect(model.views).toEqual({});
    expect(model.chosen).toBe('all');
    expect(model.shown).toHaveLength(3);
  });

  it('hides columns in the given order when the width shrinks', () => {
    const { model } = tableOf(jobs);
    const keys = (width: number): string[] =>
      fittingColumns(model.columns, 'default', width).map(({ key }) => key);
    const all = keys(2000);
    expect(all).toContain('waited');
    const hidden: string[] = [];
    for (let width = 1900; width > 500; width -= 10) {
      for (const key of all) {
        if (!keys(width).includes(key) && !hidden.includes(key)) {
          hidden.push(key);
        }
      }
    }
    expect(hidden.slice(0, 4)).toEqual([
      'waited',
      'where',
      'progress',
      'owner'
    ]);
    expect(keys(400)).toEqual(['state']);
    const withoutGpus = fittingColumns(model.columns, 'default', 620, false);
    expect(withoutGpus.map(({ key }) => key)).toEqual(['state', 'duration']);
  });
});

describe('facts and actions', () => {
  it('computes GPU-hours and waiting times', () => {
    const one = ended('a', { devices: { name: 'gpu', count: 4 } });
    expect(gpuHours(one, 9000)).toBe(4);
    expect(gpuHours(ended('b'), 9000)).toBeNull();
    const runs = job('d', { devices: { name: 'gpu', count: 2 } });
    expect(gpuHours(runs, 1001 + 1800)).toBe(1);
    const waits = job('c', { phase: 'Pending', started_at: null });
    expect(waitedOf(waits, 1600)).toBe(600);
  });

  it('leaves active jobs alone when jobs are deleted', () => {
    const [active, finished] = [job('a'), ended('b')];
    expect(partOf([active, finished], 'delete')).toEqual([finished]);
    expect(partOf([active, finished], 'stop')).toEqual([active]);
    expect(endedBefore([active, finished], 5001)).toEqual([finished]);
    expect(endedBefore([active, finished], 5000)).toEqual([]);
  });

  it('removes the records of jobs that are deleted already', () => {
    const jobs = [
      ended('a'),
      ended('b', { deleted: true, actions: ['remove'] }),
      ended('c')
    ];
    expect(partOf(jobs, 'delete')).toHaveLength(3);
    expect(
      requestsOf('delete', jobs, false, 1).map(({ action, ids }) => [
        action,
        ...ids
      ])
    ).toEqual([
      ['delete', 'local::a:a'],
      ['delete', 'local::c:c'],
      ['remove', 'local::b:b']
    ]);
    expect(requestsOf('stop', jobs, false, 50)).toHaveLength(1);
    expect(consequencesOf('delete', jobs, 0, false, trans)).toEqual(
      expect.arrayContaining([
        { kind: 'kept', text: 'Their records and their logs.' },
        {
          kind: 'lost',
          text: 'The record and the logs of 1 job that is deleted already.'
        }
      ])
    );
  });

  it('speaks of one job in the singular, and of those that are left alone', () => {
    const texts = consequencesOf('stop', [job('a')], 8, false, trans);
    expect(texts.map(({ text }) => text)).toEqual([
      'The progress since the last checkpoint is lost.',
      'Checkpoints, event files and logs are kept.',
      '8 other selected jobs are left alone.'
    ]);
  });

  it('exports times as ISO 8601 and the values of sweeps', () => {
    const columns = allColumns([]).filter(({ key }) => key === 'created');
    const [head, row] = rowsOfJobs([member(3, 0)], columns, 9000);
    expect(head).toEqual(['name', 'id', 'created', 'lr']);
    expect(row.slice(2)).toEqual(['1970-01-01T00:00:00.000Z', '3']);
  });

  it('exports state and reason apart, and durations in milliseconds', () => {
    const keys = ['state', 'duration', 'm:lr'];
    const columns = allColumns(['lr']).filter(({ key }) => keys.includes(key));
    const failed: JobSummary = {
      ...member(3, 0),
      phase: 'Failed',
      state: 'Failed',
      ran_seconds: 36.23798808299989,
      reason: someReason('It failed, "again"'),
      progress: {
        ...{ text: '', fraction: 1, rate: null, eta_seconds: null },
        ...{ metrics: { lr: 0.12345678 }, updated_at: 9000 }
      }
    };
    const head = 'name,id,state,reason,lr,seconds,sweep lr';
    const row =
      'lr-3,local::lr-3:lr-3,failed,"It failed, ""again""",0.12345678,36.238,3';
    expect(csvOf(rowsOfJobs([failed], columns, 9000))).toBe(
      `${head}\r\n${row}\r\n`
    );
  });

  it('reads arguments by option', () => {
    const words = ['data', '--lr=0.1', '--amp', '--bs', '32', '--shift', '-1'];
    expect(optionsOf(words, number => `argument ${number}`)).toEqual({
      ...{ 'argument 1': 'data', '--lr': '0.1', '--amp': 'yes' },
      ...{ '--bs': '32', '--shift': '-1' }
    });
  });
});
