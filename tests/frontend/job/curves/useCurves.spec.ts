import { act, renderHook } from '@testing-library/react';
import { Job, JobCurves } from '../../../../src/api/types';
import { CurvesClient } from '../../../../src/job/curves/model';
import { useCurves } from '../../../../src/job/curves/useCurves';
import { JobTabModel } from '../../../../src/job/model/jobTab';
import { fullJob } from '../../fakeJob';

const model = (isVisible: boolean): JobTabModel =>
  ({ isVisible, jobs: { api: { serverSettings: {} } } }) as JobTabModel;
const jobAt = (updated_at: number): Job => ({
  ...fullJob(),
  log_dirs: ['logs'],
  progress: { updated_at, metrics: {} } as Job['progress']
});
const curvesOf = (name: string): JobCurves =>
  ({ curves: [], name }) as unknown as JobCurves;

describe('the curves of a job', () => {
  const answers: ((curves: JobCurves) => void)[] = [];

  beforeEach(() => {
    jest.useFakeTimers();
    answers.length = 0;
    jest
      .spyOn(CurvesClient.prototype, 'curves')
      .mockImplementation(() => new Promise(resolve => answers.push(resolve)));
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('appear though the job makes progress while they are read', async () => {
    const { result, rerender } = renderHook(
      ({ job, isVisible }) => useCurves(model(isVisible), job),
      { initialProps: { job: jobAt(1), isVisible: true } }
    );
    await act(() => jest.advanceTimersByTimeAsync(0));
    rerender({ job: jobAt(2), isVisible: true });
    await act(() => jest.advanceTimersByTimeAsync(10_000));
    expect(answers).toHaveLength(2);
    await act(async () => answers[1](curvesOf('second')));
    await act(async () => answers[0](curvesOf('first')));
    expect(result.current).toEqual(curvesOf('second'));
    rerender({ job: jobAt(3), isVisible: true });
    await act(() => jest.advanceTimersByTimeAsync(10_000));
    rerender({ job: jobAt(4), isVisible: true });
    await act(async () => answers[2](curvesOf('third')));
    expect(result.current).toEqual(curvesOf('third'));
  });

  it('are not those that a hidden tab asked for', async () => {
    const { result, rerender } = renderHook(
      ({ job, isVisible }) => useCurves(model(isVisible), job),
      { initialProps: { job: jobAt(1), isVisible: true } }
    );
    await act(() => jest.advanceTimersByTimeAsync(0));
    rerender({ job: jobAt(1), isVisible: false });
    await act(async () => answers[0](curvesOf('hidden')));
    expect(result.current).toBeNull();
  });
});
