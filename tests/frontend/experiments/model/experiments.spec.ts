import { ApiError } from '../../../../src/api/errors';
import { IRunsQuery } from '../../../../src/experiments/client';
import { ExperimentsModel } from '../../../../src/experiments/model/experiments';
import {
  runsAsCsv,
  runsAsPandas
} from '../../../../src/experiments/model/export';
import { RunStore } from '../../../../src/experiments/model/runStore';
import {
  DEFAULT_VIEW,
  ITableView,
  readView,
  readViews
} from '../../../../src/experiments/model/view';
import { RunTable, ValuesAt, ValuesAtRequest } from '../../../../src/api/types';
import { StepValues } from '../../../../src/experiments/model/stepValues';
import { sharedNames, TableRow } from '../../../../src/experiments/model/rows';
import { columnsOf, someMetric, someRun, someTable } from '../runFakes';

/** The server, whose answers the test gives one by one. */
class Answers {
  readonly asked: IRunsQuery[] = [];

  runs = (query: IRunsQuery, signal?: AbortSignal): Promise<RunTable> => {
    this.asked.push(query);
    return new Promise((resolve, reject) => {
      this._answer = answer =>
        answer instanceof ApiError ? reject(answer) : resolve(answer);
      signal?.addEventListener('abort', () =>
        reject(new ApiError(0, { message: 'aborted', code: 'NoAnswer' }))
      );
    });
  };

  /** Answer the last request. */
  async give(answer: RunTable | ApiError): Promise<void> {
    this._answer?.(answer);
    await jest.advanceTimersByTimeAsync(1000);
  }

  readonly askedAt: ValuesAtRequest[] = [];

  valuesAt = async (request: ValuesAtRequest): Promise<ValuesAt> => {
    this.askedAt.push(request);
    const values = request.runs.map(id => (id === 'id-vit-10' ? 0.5 : null));
    return { values: [values], complete: true };
  };

  private _answer: ((answer: RunTable | ApiError) => void) | null = null;
}

const VIT = { parameters: { lr: 0.001, model: 'vit', seed: 1 } };
const NET = { parameters: { lr: 0.1, model: 'net', seed: 1 } };
const RUNS = [
  someRun('vit-1', {
    ...VIT,
    started_at: 1,
    metrics: {
      'val.accuracy': someMetric(0.9, { max: 0.95, max_step: 7 }),
      'val.loss': someMetric('nan', { min: 0.2 }),
      grad: someMetric(3)
    }
  }),
  someRun('vit-10', {
    ...VIT,
    started_at: 2,
    tags: ['a', 'b'],
    metrics: { 'val.accuracy': someMetric(0.94) }
  }),
  someRun('net-2', {
    ...NET,
    started_at: 3,
    metrics: {
      'val.accuracy': someMetric('nan', { max: null }),
      'val.loss': someMetric(0.1)
    }
  }),
  someRun('old', { started_at: 4, archived: true })
];

describe('the table of runs', () => {
  let answers: Answers;
  let model: ExperimentsModel;

  const open = (view: Partial<ITableView> = {}): void => {
    answers = new Answers();
    const kept = { ...DEFAULT_VIEW, ...view };
    const of = { folder: kept.folder, metrics: [], curves: [] };
    model = new ExperimentsModel({
      store: new RunStore(answers, of),
      view: kept,
      views: {},
      steps: new StepValues(answers),
      sweepOf: ({ name }) => (name.startsWith('vit') ? 'sweep' : null)
    });
    model.store.isActive = true;
  };
  const names = (): string[] => model.runs.map(({ name }) => name);
  const titles = (): string[] =>
    model.rows.map(row =>
      row.kind === 'group'
        ? `${row.group.label} ${row.group.runs.length}`
        : row.run.name
    );

  beforeEach(async () => {
    jest.useFakeTimers();
    open();
    await answers.give(someTable(RUNS));
    await answers.give(someTable(RUNS));
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  it('shows the columns with the most values, and asks for their curve', () => {
    expect(model.columns.map(({ key }) => key)).toEqual([
      ...['status', 'job', 'started', 'duration'],
      ...['p:lr', 'p:model', 'p:seed', 'm:val.accuracy', 'm:val.loss'],
      ...['curve', 'tags']
    ]);
    expect(answers.asked[1]).toEqual({
      folder: '',
      revision: -1,
      metrics: ['val.accuracy', 'val.loss'],
      curves: ['val.accuracy']
    });
    expect(answers.asked[2].revision).toBe(1);
  });

  it('sorts by any column; runs without a value are last both ways', () => {
    expect(names()).toEqual(['net-2', 'vit-10', 'vit-1']);
    model.change({ order: { key: 'name', down: false } });
    expect(names()).toEqual(['net-2', 'vit-1', 'vit-10']);
    model.change({ order: { key: 'm:val.accuracy', down: true } });
    expect(names()).toEqual(['vit-1', 'vit-10', 'net-2']);
    model.change({ order: { key: 'm:val.accuracy', down: false } });
    expect(names()).toEqual(['vit-10', 'vit-1', 'net-2']);
  });

  it('marks the best value once, of the value that a column shows', () => {
    expect(model.best).toEqual(
      new Map([
        ['m:val.accuracy', 'id-vit-1'],
        ['m:val.loss', 'id-net-2']
      ])
    );
    model.change({
      modes: { 'val.accuracy': 'last' },
      goals: { 'val.loss': 'max' }
    });
    expect(model.best.get('m:val.accuracy')).toBe('id-vit-10');
    expect(model.best.get('m:val.loss')).toBe('id-net-2');
    model.change({ modes: { 'val.accuracy': 'step' } });
    expect(model.best.has('m:val.accuracy')).toBe(false);
    expect(model.metric?.value(RUNS[0])).toBe(7);
  });

  it('shows values at a step, and reads those of runs again that have grown', async () => {
    model.change({
      modes: { 'val.accuracy': 'at' },
      steps: { 'val.accuracy': 100 },
      order: { key: 'm:val.accuracy', down: true }
    });
    await jest.advanceTimersByTimeAsync(0);
    expect(answers.askedAt).toHaveLength(1);
    expect(answers.askedAt[0].metrics).toEqual([
      { metric: 'val.accuracy', step: 100 }
    ]);
    expect(model.metric?.step).toBe(100);
    expect(model.runs.map(run => model.metric?.value(run))).toEqual([
      0.5,
      null,
      null
    ]);
    model.change({ filter: 'val.accuracy > 0.4' });
    expect(names()).toEqual(['vit-10']);
    model.store.replace({ ...RUNS[2], note: 'x' });
    await jest.advanceTimersByTimeAsync(0);
    expect(answers.askedAt.slice(1).flatMap(({ runs }) => runs)).toEqual([
      RUNS[2].id
    ]);
  });

  it('groups by what the user chooses, and folds groups', () => {
    model.change({ group: 'p:model' });
    expect(titles()).toEqual(['net 1', 'net-2', 'vit 2', 'vit-10', 'vit-1']);
    const group = model.rows[2];
    expect(group.kind === 'group' && group.group).toMatchObject({
      best: 0.95,
      mean: (0.95 + 0.94) / 2
    });
    model.toggleGroup('vit');
    expect(titles()).toEqual(['net 1', 'net-2', 'vit 2']);
    model.change({ group: 'tag' });
    expect(titles().filter(title => / \d+$/.test(title))).toEqual([
      'a 1',
      'b 1',
      'null 2'
    ]);
    model.change({ group: 'sweep' });
    expect(titles()[0]).toBe('sweep 2');
    model.change({ group: 'folder' });
    expect(titles()[0]).toBe('eurosat 3');
  });

  it('keeps the rows after an error in the filter', () => {
    model.change({ filter: 'lr < 0.01' });
    expect(names()).toEqual(['vit-10', 'vit-1']);
    model.change({ filter: 'lr < 0.01 and' });
    expect(model.problem?.code).toBe('name');
    expect(names()).toEqual(['vit-10', 'vit-1']);
    model.change({ filter: '' });
    expect(names()).toHaveLength(3);
  });

  it('shows archived runs on demand', () => {
    model.change({ archived: true });
    expect(names()[0]).toBe('old');
  });

  it('selects ranges, and acts only on selected runs that are shown', () => {
    const order = model.runs.map(({ id }) => id);
    model.selection = model.selection.toggle(order[0]);
    model.selection = model.selection.extend(order[2], order);
    expect(model.selected).toHaveLength(3);
    model.change({ filter: 'model = net' });
    expect(model.selected.map(({ name }) => name)).toEqual(['net-2']);
  });

  it('does not move rows while they are held', async () => {
    model.change({ order: { key: 'm:val.loss', down: false } });
    expect(names()).toEqual(['net-2', 'vit-1', 'vit-10']);
    model.hold(true);
    const better = {
      ...RUNS[1],
      metrics: { 'val.loss': someMetric(0.01) }
    };
    const fresh = someRun('new', { metrics: { 'val.loss': someMetric(0) } });
    await answers.give(
      someTable([better, fresh], { revision: 2, complete: false })
    );
    expect(names()).toEqual(['net-2', 'vit-1', 'vit-10', 'new']);
    model.hold(false);
    expect(names()).toEqual(['new', 'vit-10', 'net-2', 'vit-1']);
  });

  it('follows changes, removals and another folder', async () => {
    await answers.give(
      someTable([], {
        ...{ revision: 5, complete: false, removed: ['id-net-2'] },
        columns: columnsOf(RUNS)
      })
    );
    expect(names()).toEqual(['vit-10', 'vit-1']);
    expect(answers.asked[answers.asked.length - 1].revision).toBe(5);
    model.change({ folder: 'other' });
    expect(names()).toEqual([]);
    expect(model.store.isLoading).toBe(true);
    expect(answers.asked[answers.asked.length - 1]).toMatchObject({
      folder: 'other',
      revision: -1
    });
  });

  it('keeps the runs when the server does not answer, and asks again', async () => {
    const lost = new ApiError(0, { message: 'lost', code: 'NoAnswer' });
    const { length } = answers.asked;
    await answers.give(lost);
    expect(model.store.failure).toBe(lost);
    expect(names()).toHaveLength(3);
    await jest.advanceTimersByTimeAsync(1000);
    expect(answers.asked).toHaveLength(length + 1);
    await answers.give(someTable(RUNS, { revision: 2 }));
    expect(model.store.failure).toBeNull();
    model.store.isActive = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(answers.asked.length).toBeLessThan(length + 4);
  });

  it('is exported with all values, and runs nothing in a spreadsheet', () => {
    const run = someRun('=cmd()', {
      parameters: { lr: 0.1, model: 'a "b", c', ok: true },
      metrics: { 'val.accuracy': someMetric('nan') }
    });
    const csv = runsAsCsv([run], model.columns);
    expect(csv.split('\r\n').slice(0, 2)).toEqual([
      'name,id,status,job,started,duration,lr,model,seed,val.accuracy,val.loss,tags',
      `'=cmd(),id-=cmd(),complete,,1700000000,60,0.1,"a ""b"", c",,nan,,`
    ]);
    expect(runsAsPandas([run], model.columns)).toContain(
      '"model": "a \\"b\\", c", "seed": None, "val.accuracy": float("nan")'
    );
  });
});

describe('kept views', () => {
  it('lose only what is invalid', () => {
    expect(readView(null)).toEqual(DEFAULT_VIEW);
    expect(
      readView({ filter: 1, folder: 'a', columns: [1], modes: { a: 'x' } })
    ).toEqual({ ...DEFAULT_VIEW, folder: 'a', columns: ['1'] });
    const view = { ...DEFAULT_VIEW, goals: { a: 'min' as const } };
    expect(readViews({ mine: view })).toEqual({ mine: view });
  });
});

describe('suffixes', () => {
  it('tell runs apart only where several shown runs have one name', () => {
    const rows = ['a', 'b', 'a'].map((name, index): TableRow => {
      const run = someRun(name, { id: `${name}${index}` });
      return { kind: 'run', key: run.id, run };
    });
    expect([...sharedNames(rows)]).toEqual(['a']);
    const twice = [rows[0], { ...rows[0], key: 'group/a' }];
    expect(sharedNames(twice).size).toBe(0);
  });
});
