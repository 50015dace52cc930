import { ApiError } from '../../../src/api/errors';
import { RunDetail } from '../../../src/api/types';
import { ExperimentsClient } from '../../../src/experiments/client';
import { RunModel } from '../../../src/experiments/run/model/run';
import { someMetric, someRun, someTable } from './runFakes';

const LOOK = { x: 'step', smoothing: 0, log: false, asTable: false } as const;

describe('the model of a run’s page', () => {
  const runs = jest.fn();
  let model: RunModel;

  /** Open the page of a run. */
  async function open(run = someRun('a')): Promise<void> {
    const detail = { run, metrics: Object.keys(run.metrics) };
    const client = {
      runs,
      run: async () => detail as unknown as RunDetail
    } as unknown as ExperimentsClient;
    const { id } = run;
    model = new RunModel({ client, id, look: LOOK, saveLook: jest.fn() });
    model.setVisible(true);
    await jest.advanceTimersByTimeAsync(0);
  }

  beforeEach(() => {
    jest.useFakeTimers();
    runs.mockReset();
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  it('says that the folder is gone as soon as the server no longer finds it', async () => {
    runs
      .mockResolvedValueOnce(someTable([someRun('a')]))
      .mockRejectedValue(new ApiError(404, { message: 'Gone' }));
    await open();
    expect(model.isGone).toBe(false);
    await jest.advanceTimersByTimeAsync(5000);
    expect(model.isGone).toBe(true);
  });

  it('asks for no metrics of the whole workspace, and shows those of the run', async () => {
    const metrics = { rare: someMetric(1), loss: someMetric(2) };
    const run = someRun('a', { path: null, metrics });
    const row = { ...run, metrics: { loss: someMetric(3) } };
    runs
      .mockResolvedValueOnce(someTable([row]))
      .mockReturnValue(new Promise(() => undefined));
    await open(run);
    expect(runs.mock.calls[0][0]).toMatchObject({ folder: '', metrics: [] });
    expect(model.summary('loss')?.last).toBe(3);
    expect(model.summary('rare')?.last).toBe(1);
    expect(model.summary('toString')).toBeUndefined();
  });
});
