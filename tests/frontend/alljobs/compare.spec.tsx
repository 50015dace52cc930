/** The comparison of jobs: finding the runs of the jobs, the rows of the table, the page without curves. */
import { nullTranslator } from '@jupyterlab/translation';
import { render, screen, waitFor, within } from '@testing-library/react';
import * as React from 'react';
import { JobCompareView } from '../../../src/alljobs/compare/JobCompareView';
import { JobDifferences } from '../../../src/alljobs/compare/JobDifferences';
import { JobCompareModel } from '../../../src/alljobs/compare/model';
import { sectionsOf } from '../../../src/alljobs/compare/sections';
import { ApiClient } from '../../../src/api/client';
import { Job, RunRow } from '../../../src/api/types';
import { ExperimentsClient } from '../../../src/experiments/client';
import { Jobs } from '../../../src/jobs/model/jobs';
import { fullJob } from '../fakeJob';
import { someMetric, someRun, someTable } from '../experiments/runFakes';
import { FakeServer, json } from '../fakes';

const trans = nullTranslator.load('');

/** The model of the comparison of some jobs. */
function modelOf(server: FakeServer, jobs: readonly Job[]): JobCompareModel {
  const settings = server.settings();
  return new JobCompareModel({
    jobs: new Jobs(new ApiClient(settings)),
    client: new ExperimentsClient(settings),
    ids: jobs.map(({ id }) => id),
    look: { x: 'step', smoothing: 0, log: false, asTable: false },
    saveLook: () => undefined
  });
}

function twoJobs(): Job[] {
  return ['a', 'b'].map(name =>
    fullJob({ id: `local::${name}:u`, name, uid: 'u' })
  );
}

/** A run of each job; runs of different origins have different ids. */
function runsOf(
  jobs: readonly Job[],
  origin: RunRow['origin'] = 'recorder'
): RunRow[] {
  return jobs.map(({ id, name }) =>
    someRun(`${origin}-${name}`, {
      job: { id, name, engine: 'local', namespace: '', uid: 'u' },
      ...{ origin, metrics: { loss: someMetric(1) } }
    })
  );
}

/** Answer with a job by its id. */
function answerJob(jobs: readonly Job[], url: string): Response {
  const job = jobs.find(({ id }) => url.endsWith(encodeURIComponent(id)));
  return job ? json(job) : json({ message: 'no' }, 404);
}

it('waits for the runs while folders are searched', async () => {
  const jobs = twoJobs();
  const runs = runsOf(jobs);
  const server = new FakeServer();
  let found: (() => void) | undefined;
  server.answer = async ({ url }) => {
    if (url.includes('/experiments/runs?')) {
      const isFirst = url.includes('revision=-1');
      if (!isFirst) {
        await new Promise<void>(resolve => (found = resolve));
      }
      const table = { revision: 7, complete: isFirst, scanning: isFirst };
      return json(someTable(isFirst ? [] : runs, table));
    }
    return answerJob(jobs, url);
  };
  const model = modelOf(server, jobs);
  await waitFor(() => expect(found).toBeDefined());
  expect(model.compared?.map(({ run }) => run)).toEqual([null, null]);
  expect(model.areRunsKnown).toBe(false);
  found?.();
  await waitFor(() => expect(model.areRunsKnown).toBe(true));
  expect(model.runs).not.toBeNull();
  expect(model.runsFailure).toBeNull();
  model.dispose();
});

it('gives the table the whole width if no job has curves', async () => {
  const jobs = twoJobs();
  const server = new FakeServer();
  server.answer = ({ url }) =>
    url.includes('/experiments/runs?')
      ? json(someTable([], { revision: 7, complete: true, scanning: false }))
      : answerJob(jobs, url);
  const model = modelOf(server, jobs);
  const lab = {
    openJob: () => undefined,
    openComparison: () => undefined,
    openTensorBoard: () => undefined,
    askJobs: () => Promise.resolve(null),
    copy: () => undefined
  };
  render(<JobCompareView model={model} lab={lab} trans={trans} />);
  const none = await screen.findByText('The jobs have no recorded metrics.');
  expect(none.closest('[data-single]')).not.toBeNull();
  model.dispose();
});

it('names scripts within the working directory, whose ends tell jobs apart', () => {
  const compared = ['train.py', 'long.py'].map(script => {
    const job = fullJob({ name: script, working_dir_path: 'mnist' });
    const value = `/home/lin/a-long-path/mnist/${script}`;
    job.spec = {
      ...job.spec,
      entrypoint: { ...job.spec.entrypoint, value },
      working_dir: '/home/lin/a-long-path/mnist'
    };
    return { job, run: null };
  });
  const code = sectionsOf(compared, () => null, true, trans).find(
    ({ key }) => key === 'code'
  );
  const values = new Map(code?.rows.map(({ name, values }) => [name, values]));
  expect(values.get('Entrypoint')).toEqual(['train.py', 'long.py']);
  expect(values.get('Working directory')).toEqual(['mnist', 'mnist']);
});

it('tells code of different commits and snapshots apart', () => {
  const git = (id: string): Job['spec']['source'] => ({
    ...{ kind: 'git', address: 'https://x/y.git', ref: 'main', folder: '' },
    ...{ worktree: null, submodules: false, protocols: null, history: false },
    ...{ secret: null, image: null, path: null },
    commit: { id: id.repeat(40), branch: null, subject: '', changed: 0 }
  });
  const snapshot = (digest: string): Job['spec']['source'] => ({
    ...{ kind: 'snapshot', folder: '/w', leave_out: [] },
    taken: {
      digest: digest.repeat(40),
      path: '/c',
      files: 1,
      size: 1,
      commit: null
    }
  });
  const rowOf = (sources: Job['spec']['source'][]) => {
    const compared = sources.map(source => {
      const job = fullJob();
      job.spec = { ...job.spec, source };
      return { job, run: null };
    });
    return sectionsOf(compared, () => null, true, trans)
      .find(({ key }) => key === 'code')
      ?.rows.find(({ name }) => name === 'Source');
  };
  expect(rowOf([git('a'), git('b')])?.values).toEqual([
    'https://x/y.git @ aaaaaaaaaaaa',
    'https://x/y.git @ bbbbbbbbbbbb'
  ]);
  expect(rowOf([snapshot('a'), snapshot('b')])?.differs).toBe(true);
});

it('finds the run of a job that starts later', async () => {
  const jobs = twoJobs();
  const runs = runsOf(jobs);
  let started = 1;
  const server = new FakeServer();
  server.answer = ({ url }) =>
    url.includes('/experiments/runs?')
      ? json(someTable(runs.slice(0, started), { revision: 7 }))
      : answerJob(jobs, url);
  const model = modelOf(server, jobs);
  await waitFor(() => expect(model.runs?.ids).toHaveLength(1));
  const first = model.runs;
  first?.setLook({ ...first.look, asTable: true });
  await model.load();
  expect(model.runs).toBe(first);
  started = 2;
  await model.load();
  expect(model.runs?.ids).toEqual(runs.map(({ id }) => id));
  expect(model.runs?.look.asTable).toBe(true);
  expect(first?.isDisposed).toBe(true);
  model.dispose();
});

it('waits until folders of event files are joined to the runs of jobs', async () => {
  const jobs = twoJobs();
  const server = new FakeServer();
  server.answer = ({ url }) => {
    if (url.includes('/experiments/runs?')) {
      const scanning = url.includes('revision=-1');
      const runs = runsOf(jobs, scanning ? 'events' : 'job');
      return json(someTable(runs, { revision: 7, scanning }));
    }
    return answerJob(jobs, url);
  };
  const model = modelOf(server, jobs);
  await waitFor(() => expect(model.runs).not.toBeNull());
  expect(model.runs?.ids).toEqual(runsOf(jobs, 'job').map(({ id }) => id));
  model.dispose();
});

describe('the sections of a comparison', () => {
  const jobWith = (loss: number, changes: Partial<Job> = {}): Job =>
    fullJob({
      ...{ restarts: 0, nodes: ['vm'], replicas: 1 },
      progress: {
        ...{ text: '', fraction: null, rate: null, eta_seconds: null },
        ...{ metrics: { loss, lr: 0.5 }, updated_at: 1 }
      },
      ...changes
    });
  const rowsIn = (
    jobs: readonly Job[],
    key: string,
    showEqual = false
  ): string[] =>
    sectionsOf(
      jobs.map(job => ({ job, run: null })),
      () => null,
      showEqual,
      trans
    )
      .find(section => section.key === key)
      ?.rows.map(({ name }) => name) ?? [];

  it('hide equal facts and results until they are asked for', () => {
    const jobs = [jobWith(1), jobWith(2, { restarts: 3 })];
    expect(rowsIn(jobs, 'run')).toEqual(['Restarts']);
    expect(rowsIn(jobs, 'results')).toEqual(['loss']);
    expect(rowsIn(jobs, 'run', true)).toEqual(
      expect.arrayContaining(['Replicas', 'Restarts', 'Node'])
    );
    expect(rowsIn(jobs, 'results', true)).toEqual(['loss', 'lr']);
  });

  it('say so if all values of a section are equal', () => {
    const compared = [jobWith(1), jobWith(1)].map(job => ({ job, run: null }));
    const captions = new Map(
      sectionsOf(compared, () => null, false, trans).map(({ key, caption }) => [
        key,
        caption
      ])
    );
    expect(captions.get('run')).toBe('the same for all jobs');
    expect(captions.get('results')).toBe('the same for all jobs');
  });

  it('show all values of a single job', () => {
    expect(rowsIn([jobWith(1)], 'results')).toEqual(['loss', 'lr']);
    expect(rowsIn([jobWith(1)], 'run')).toContain('Replicas');
  });

  it('write a metric as other pages do, and an argument as it was typed', () => {
    const compared = ['3e-4', '1e-3'].map((lr, index) => {
      const job = jobWith(index ? 0.12345 : 0.0003, { id: `job-${index}` });
      return {
        job: { ...job, spec: { ...job.spec, args: ['--lr', lr] } },
        run: null
      };
    });
    render(
      <JobDifferences
        compared={compared}
        goalOf={() => null}
        styleOf={() => null}
        open={() => undefined}
        remove={null}
        trans={trans}
      />
    );
    const row = (name: string): (string | null)[] =>
      within(screen.getByRole('row', { name: new RegExp(`^${name} `) }))
        .getAllByRole('cell')
        .map(({ textContent }) => textContent);
    expect(row('loss')).toEqual(['best 0.0003', '0.1235']);
    expect(row('--lr')).toEqual(['3e-4', '1e-3']);
  });
});
