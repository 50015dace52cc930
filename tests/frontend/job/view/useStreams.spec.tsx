import { act, render, screen } from '@testing-library/react';
import * as React from 'react';
import { ApiClient } from '../../../../src/api/client';
import { Job } from '../../../../src/api/types';
import { useStreams } from '../../../../src/job/view/useStreams';
import { JobTabModel, JobTabStore } from '../../../../src/job/model/jobTab';
import { Jobs } from '../../../../src/jobs/model/jobs';
import { fullJob } from '../../fakeJob';
import { FakeServer, json } from '../../fakes';
import { someStream } from '../../fakeLog';

describe('the sizes of a job’s logs', () => {
  let server: FakeServer;
  let jobs: Jobs;
  let model: JobTabModel;
  let size: number;
  let readings: number;

  beforeEach(() => {
    jest.useFakeTimers();
    size = readings = 0;
    server = new FakeServer();
    server.answer = ({ url }) => {
      readings += Number(url.endsWith('/logs'));
      return json({ streams: [someStream(0, { size })], engines: [] });
    };
    jobs = new Jobs(new ApiClient(server.settings()));
    model = new JobTabModel(jobs, fullJob().id, new JobTabStore(null));
    model.setVisible(true);
  });

  afterEach(() => {
    model.dispose();
    jobs.dispose();
    jest.useRealTimers();
  });

  const Sizes = ({ job }: { job: Job }): React.JSX.Element => (
    <p>{useStreams(model, job)?.map(stream => stream.size)}</p>
  );
  const epoch = (fraction: number): Job =>
    fullJob({
      progress: {
        text: 'Epoch',
        fraction,
        rate: null,
        eta_seconds: null,
        metrics: {},
        updated_at: 0
      }
    });
  const pass = (ms: number): Promise<void> =>
    act(async () => {
      await jest.advanceTimersByTimeAsync(ms);
    });

  it('follow the news of the job, not all of them at once', async () => {
    const { rerender } = render(<Sizes job={fullJob()} />);
    await pass(10);
    expect([readings, screen.getByText('0')]).toMatchObject([1, {}]);
    size = 500;
    for (let part = 1; part <= 20; part++) {
      rerender(<Sizes job={epoch(part / 20)} />);
      await pass(100);
    }
    expect(readings).toBe(1);
    await pass(1500);
    expect([readings, screen.getByText('500')]).toMatchObject([2, {}]);
  });

  it('are read of a job that says nothing, too, but not out of view', async () => {
    const { rerender } = render(<Sizes job={fullJob()} />);
    await pass(10);
    size = 500;
    await pass(20_000);
    expect(screen.getByText('500')).toBeTruthy();
    const seen = readings;
    model.setVisible(false);
    rerender(<Sizes job={fullJob()} />);
    await pass(60_000);
    expect(readings).toBe(seen);
    model.setVisible(true);
    rerender(<Sizes job={fullJob({ phase: 'Succeeded' })} />);
    await pass(10);
    expect(readings).toBe(seen + 1);
    await pass(60_000);
    expect(readings).toBe(seen + 1);
  });
});
