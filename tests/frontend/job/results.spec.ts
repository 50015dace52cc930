import { Signal } from '@lumino/signaling';
import { ApiError } from '../../../src/api/errors';
import { JobSummary, MetricSummary } from '../../../src/api/types';
import { ResultsModel } from '../../../src/job/sweep/results';
import { IJobsModel } from '../../../src/tokens';
import { someJob } from '../fakes';

describe('ResultsModel', () => {
  it.each([
    ['mIoU', 'minimize', 'val/mIoU', 'minimize'],
    ['LOSS', 'maximize', 'val/loss', 'maximize'],
    // another metric, whose name merely ends like that of the rule
    ['loss', 'maximize', 'val/own_loss', 'minimize']
  ] as const)(
    'a rule for %s (%s) gives %s the goal %s',
    async (metric, goal, reported, expected) => {
      const sweep = {
        ...{ id: 's', name: 's', number: 1, round: 0, values: {} },
        rule: { metric, goal, after: 0, least_jobs: 1 }
      } as unknown as JobSummary['sweep'];
      const job = someJob({ phase: 'Succeeded', sweep });
      const value: MetricSummary = { last: 1, least: 0, greatest: 2, at: 1 };
      const jobs = {
        jobs: [job],
        api: {
          getSweepResults: () =>
            Promise.resolve({ metrics: { [job.id]: { [reported]: value } } })
        }
      } as unknown as IJobsModel;
      Object.assign(jobs, { changed: new Signal(jobs) });
      const model = new ResultsModel(jobs, 's');
      await model.refresh();
      expect(model.metric).toBe(reported);
      expect(model.goal).toBe(expected);
      model.dispose();
    }
  );

  it('reads metrics of running jobs again, also if no job changes, and after an error, while a user sees them', async () => {
    jest.useFakeTimers();
    const sweep = { id: 's', name: 's', number: 1, round: 0, values: {} };
    const job = someJob({
      phase: 'Running',
      sweep: sweep as unknown as JobSummary['sweep']
    });
    const value: MetricSummary = { last: 1, least: 0, greatest: 2, at: 1 };
    const getSweepResults = jest
      .fn()
      .mockResolvedValueOnce({ metrics: {} })
      .mockRejectedValueOnce(new ApiError(503, { message: 'Slow disk' }))
      .mockResolvedValue({ metrics: { [job.id]: { loss: value } } });
    const list = [job];
    const jobs = { jobs: list, api: { getSweepResults } };
    Object.assign(jobs, { changed: new Signal(jobs) });
    const model = new ResultsModel(jobs as unknown as IJobsModel, 's');
    await jest.advanceTimersByTimeAsync(60_000);
    // Nobody sees the comparison.
    expect(getSweepResults).toHaveBeenCalledTimes(1);
    model.setVisible(true);
    await jest.advanceTimersByTimeAsync(0);
    expect(model.failure?.message).toBe('Slow disk');
    await jest.advanceTimersByTimeAsync(10_000);
    expect(model.metrics).toEqual(['loss']);
    expect(model.failure).toBeNull();

    list[0] = { ...job, phase: 'Succeeded', state: 'Succeeded' };
    await jest.advanceTimersByTimeAsync(60_000);
    // once after the end, for what the job wrote last
    expect(getSweepResults).toHaveBeenCalledTimes(4);

    list[0] = job;
    await model.refresh();
    model.setVisible(false);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(getSweepResults).toHaveBeenCalledTimes(5);
    getSweepResults.mockRejectedValue(new ApiError(404, { message: 'Gone' }));
    model.setVisible(true);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(getSweepResults).toHaveBeenCalledTimes(6);
    model.dispose();
    jest.useRealTimers();
  });
});
