import { ValuesAt, ValuesAtRequest } from '../../../../src/api/types';
import { StepValues } from '../../../../src/experiments/model/stepValues';
import { someMetric, someRun } from '../runFakes';

const METRICS = { loss: someMetric(1), accuracy: someMetric(1) };
const RUNS = ['a', 'b', 'c'].map(name => someRun(name, { metrics: METRICS }));

describe('values at a step that the server has no time to read', () => {
  const valuesAt = jest.fn<Promise<ValuesAt>, [ValuesAtRequest]>();
  let steps: StepValues;
  const want = async (metric: string): Promise<void> => {
    steps.want([{ metric, step: 5 }], RUNS);
    await jest.advanceTimersByTimeAsync(0);
  };
  const read = (metric: string): (number | null)[] =>
    RUNS.map(({ id }) => steps.read(metric, 5, id));

  beforeEach(() => {
    jest.useFakeTimers();
    valuesAt.mockReset();
    steps = new StepValues({ valuesAt });
  });

  afterEach(() => {
    steps.dispose();
    jest.useRealTimers();
  });

  it('are asked for again as long as an answer has new values', async () => {
    // Each answer has one value, that of the last run.
    valuesAt.mockImplementation(async ({ runs }) => ({
      values: [runs.map((_id, at) => (at === runs.length - 1 ? at : null))],
      complete: false
    }));
    await want('loss');
    expect(read('loss')).toEqual([0, 1, 2]);
    expect(valuesAt).toHaveBeenCalledTimes(3);
  });

  it('are asked for later after three answers, and for each metric', async () => {
    valuesAt.mockImplementation(async ({ runs }) => ({
      values: [runs.map(() => null)],
      complete: false
    }));
    await want('loss');
    await want('loss');
    // Each try begins with another run.
    expect(valuesAt.mock.calls.map(([{ runs }]) => runs[0])).toEqual(
      RUNS.map(({ id }) => id)
    );
    await want('accuracy');
    expect(valuesAt).toHaveBeenCalledTimes(6);
    await jest.advanceTimersByTimeAsync(60_000);
    valuesAt.mockImplementation(async ({ runs }) => ({
      values: [runs.map(() => 7)],
      complete: true
    }));
    await want('loss');
    expect(valuesAt).toHaveBeenCalledTimes(7);
    expect(read('loss')).toEqual([7, 7, 7]);
  });
});
