/** The model of a comparison of jobs: finding the runs of the jobs. */
import { waitFor } from '@testing-library/dom';
import { JobCompareModel } from '../../../src/alljobs/compare/model';
import { ApiClient } from '../../../src/api/client';
import { ExperimentsClient } from '../../../src/experiments/client';
import { Jobs } from '../../../src/jobs/model/jobs';
import { fullJob } from '../fakeJob';
import { someMetric, someRun, someTable } from '../experiments/runFakes';
import { FakeServer, json } from '../fakes';

it('waits for the runs while folders are searched', async () => {
  const jobs = ['a', 'b'].map(name =>
    fullJob({ id: `local::${name}:u`, name, uid: 'u' })
  );
  const runs = jobs.map(({ id, name }) =>
    someRun(name, {
      job: { id, name, engine: 'local', namespace: '', uid: 'u' },
      metrics: { loss: someMetric(1) }
    })
  );
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
    const job = jobs.find(({ id }) => url.endsWith(encodeURIComponent(id)));
    return job ? json(job) : json({ message: 'no' }, 404);
  };
  const settings = server.settings();
  const model = new JobCompareModel({
    jobs: new Jobs(new ApiClient(settings)),
    client: new ExperimentsClient(settings),
    ids: jobs.map(({ id }) => id),
    look: { x: 'step', smoothing: 0, log: false, asTable: false },
    saveLook: () => undefined
  });
  await waitFor(() => expect(found).toBeDefined());
  expect(model.compared?.map(({ run }) => run)).toEqual([null, null]);
  expect(model.areRunsKnown).toBe(false);
  found?.();
  await waitFor(() => expect(model.areRunsKnown).toBe(true));
  expect(model.runs).not.toBeNull();
  expect(model.runsFailure).toBeNull();
  model.dispose();
});
