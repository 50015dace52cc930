import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen, within } from '@testing-library/react';
import { ILaunchActions } from '../../../src/launch/parts/context';
import { LaunchModel } from '../../../src/launch/model/launch';
import { Try, TryRequest } from '../../../src/api/types';
import { ClusterServer } from '../clusterFakes';
import { IFakeRequest, json } from '../fakes';
import { launchModel } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

function someTry(changes: Partial<Try> = {}): Try {
  return {
    id: 'try-1',
    revision: 1,
    state: 'running',
    sentence: 'Trying on this machine',
    hint: null,
    processes: 2,
    steps: 20,
    seconds: 60,
    steps_done: 0,
    started_at: 1,
    ran_seconds: 3,
    metrics: {},
    command: 'torchrun train.py',
    notes: [],
    untried: [],
    reason: null,
    failure: null,
    lines: [],
    ...changes
  };
}

/** A server whose tries the test ends. */
class TryServer extends ClusterServer {
  /** Answers the next request for the running try. */
  next: (view: Response) => void = () => undefined;
  first: () => Response = () => json(someTry(), 201);

  constructor() {
    super();
    const { answer } = this;
    this.answer = (request: IFakeRequest) => {
      if (!/\/tries/.test(request.url)) {
        return answer(request);
      }
      return request.method === 'POST'
        ? this.first()
        : request.method === 'DELETE'
          ? json(someTry(), 202)
          : new Promise(resolve => (this.next = resolve));
    };
  }

  asked(method: string): IFakeRequest[] {
    return this.requests.filter(
      ({ url, method: used }) => url.includes('/tries') && used === method
    );
  }
}

describe('a try of the form’s job', () => {
  let server: TryServer;
  let model: LaunchModel;
  let actions: jest.Mocked<ILaunchActions>;
  let unmount: () => void;

  beforeAll(() => {
    layOut(1200);
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  });

  beforeEach(async () => {
    server = new TryServer();
    actions = someActions();
    const db = new StateDB();
    model = launchModel(server, { db });
    await model.open();
    await model.moveTo('t9k');
    ({ unmount } = await drawLaunch(model, db, actions));
  });

  afterEach(() => {
    unmount();
    model.dispose();
  });

  const button = (name: string): HTMLElement =>
    screen.getByRole('button', { name });
  const press = (name: string): Promise<void> =>
    act(async () => {
      fireEvent.click(button(name));
    });
  const answer = (changes: Partial<Try>): Promise<void> =>
    act(async () => server.next(json(someTry(changes))));
  const pane = (): HTMLElement =>
    screen.getByRole('region', { name: 'Try here first' });
  const headline = (): string =>
    within(pane()).getAllByRole('heading')[0].textContent ?? '';

  it('is followed to its result, and Submit stays one click away', async () => {
    await press('Try here first');
    expect(actions.saveFirst).toHaveBeenCalledTimes(1);
    const { processes, steps, seconds, engine, spec } = server.asked('POST')[0]
      .body as TryRequest;
    expect([processes, steps, seconds, engine]).toEqual([2, 20, 60, 't9k']);
    expect(spec?.entrypoint.value).toBe(model.spec.entrypoint.value);
    expect(headline()).toBe('Trying on this machine');
    expect(server.asked('GET')[0].url).toContain('/tries/try-1?after=1');
    await answer({
      revision: 2,
      steps_done: 12,
      metrics: { loss: 2.0213 },
      lines: [{ rank: 1, text: 'step 12 loss 2.02' }]
    });
    expect(headline()).toBe('Trying on this machine: step 12 of 20');
    // a screen reader reads the state, not each step
    expect(within(pane()).getAllByRole('status')[0].textContent).toBe(
      'Trying on this machine'
    );
    expect(pane().textContent).toContain('loss 2.02');
    expect(
      within(pane()).getByRole('progressbar').getAttribute('aria-valuenow')
    ).toBe('60');
    await press('Try here first'); // shows the running one
    expect(server.asked('POST')).toHaveLength(1);
    await answer({
      revision: 3,
      state: 'passed',
      sentence: '20 steps passed here in 9 s',
      notes: ['It wrote TensorBoard events.'],
      untried: ['4 GPUs and nccl: the try uses the processor.']
    });
    expect(headline()).toBe('20 steps passed here in 9 s');
    expect(pane().textContent).toContain('Not tried here4 GPUs and nccl');
    await press('Submit');
    expect(actions.submit).toHaveBeenCalledTimes(1);
    expect(screen.queryByText('The form has changed since this try.')).toBe(
      null
    );
    await act(async () => model.edit({ working_dir: '/t9k' }, '/working_dir'));
    expect(
      screen.getByText('The form has changed since this try.')
    ).toBeTruthy();
  });

  it('submits the job once the try has passed, if the user wants that', async () => {
    const label = 'Submit when the try has passed';
    const box = (): HTMLInputElement => screen.getByLabelText(label);
    const ends = async (state: Try['state']): Promise<void> => {
      await answer({ revision: 2, state, sentence: state });
    };
    await press('Try here first');
    await ends('passed');
    expect(actions.submit).not.toHaveBeenCalled();

    // Nothing is tried while the file is not saved, and the last try does not count.
    fireEvent.click(box());
    actions.saveFirst.mockResolvedValueOnce(false);
    await press('Try again');
    expect(server.asked('POST')).toHaveLength(1);
    expect(actions.submit).not.toHaveBeenCalled();
    expect(box().checked).toBe(true);
    expect(pane().textContent).not.toContain('not submitted');

    await press('Try again');
    await ends('failed');
    expect(pane().textContent).toContain('because the try did not pass.');
    expect(box().checked).toBe(false);

    await press('Try again');
    expect(pane().textContent).not.toContain('because the try did not pass.');
    fireEvent.click(box());
    await act(async () => model.edit({ keep_logs: false }, '/keep_logs'));
    await ends('passed');
    expect(pane().textContent).toContain('because the form has changed.');
    expect(actions.submit).not.toHaveBeenCalled();

    await act(() => model.preview.refresh());
    await press('Try again');
    fireEvent.click(box());
    await ends('passed');
    expect(actions.submit).toHaveBeenCalledTimes(1);
    expect(box().checked).toBe(false);
    expect(pane().textContent).not.toContain('not submitted');
  });

  it('shows an error with its traceback, whose line opens', async () => {
    await press('Try here first');
    const frame = {
      ...{ file: '/w/mnist/train.py', path: 'mnist/train.py', line: 17 },
      ...{ function: 'main', code: 'open(path)', library: false }
    };
    await answer({
      revision: 2,
      state: 'failed',
      sentence: 'The try failed',
      reason: {
        code: 'ExitCode',
        sentence: 'Rank 1 failed with exit code 1: KeyError: 3',
        hint: 'Correct the script.',
        fix: null,
        verbatim: null,
        links: []
      },
      failure: {
        ...{ replica: 'worker-0', attempt: 1, rank: 1, local_rank: 1 },
        ...{ exit_code: 1, signaled: false, ended: 'Error (1)', note: null },
        ...{ error: 'KeyError: 3', frames: [frame], time: null, link: null },
        last_output: null
      }
    });
    expect(headline()).toBe('The try failed');
    expect(pane().textContent).toContain('Rank 1 failed with exit code 1');
    await press('mnist/train.py", line 17');
    expect(actions.openFile).toHaveBeenCalledWith('mnist/train.py', 17, null);
    await press('Try again');
    expect(server.asked('POST')).toHaveLength(2);
  });

  it('says why a job is not tried, and why a request is refused', async () => {
    server.first = () =>
      json(
        someTry({
          state: 'not_tried',
          sentence: 'The module apex is not installed here.',
          hint: 'Install apex.',
          notes: ['A note about a try.']
        }),
        201
      );
    await press('Try here first');
    expect(headline()).toBe('The module apex is not installed here.');
    expect(pane().textContent).toContain('Install apex.');
    expect(pane().textContent).not.toContain('A note');
    expect(within(pane()).queryByText('failed')).toBeNull();
    server.first = () =>
      json({ message: 'Another try is running.', hint: 'Wait.' }, 409);
    await press('Try again');
    expect(screen.getByRole('alert').textContent).toBe(
      'Another try is running. Wait.'
    );
    actions.saveFirst.mockResolvedValue(false);
    await press('Start the try');
    expect(server.asked('POST')).toHaveLength(2);
  });

  it('is stopped by its button, and when the form is closed', async () => {
    await press('Try here first');
    await press('Stop the try');
    expect(server.asked('DELETE')).toHaveLength(1);
    await answer({ revision: 2, state: 'stopped', sentence: 'Stopped' });
    expect(headline()).toBe('Stopped');
    await press('Try again');
    await act(async () => unmount());
    expect(server.asked('DELETE')).toHaveLength(2);
    expect(server.asked('DELETE')[1].url).toContain('/tries/try-1');
  });

  it('takes its size from fields, whose invalid texts are explained', async () => {
    await act(async () => {
      fireEvent.click(screen.getByRole('radio', { name: 'Try' }));
    });
    expect(headline()).toBe('Not tried yet');
    const type = (name: string, value: string): void => {
      fireEvent.change(within(pane()).getByLabelText(name), {
        target: { value }
      });
    };
    type('Steps', '5');
    type('Processes', '4');
    type('Seconds at most', '1000000000');
    expect(screen.getByText('A whole number from 5 to 600.')).toBeTruthy();
    await press('Start the try');
    const { processes, steps, seconds } = server.asked('POST')[0]
      .body as TryRequest;
    expect([processes, steps, seconds]).toEqual([4, 5, 60]);
  });

  it('is for jobs that run elsewhere', async () => {
    expect(
      screen.queryByRole('button', { name: 'Try here first' })
    ).toBeTruthy();
    await act(() => model.moveTo('local'));
    expect(screen.queryByRole('button', { name: 'Try here first' })).toBeNull();
  });
});
