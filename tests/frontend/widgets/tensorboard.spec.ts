import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';
import { ApiClient } from '../../../src/api/client';
import { Jobs } from '../../../src/model/jobs';
import { TensorBoardWidget } from '../../../src/widgets/tensorboard';
import {
  FakeServer,
  IFakeRequest,
  json,
  snapshot,
  someJob,
  someTensorBoard
} from '../fakes';

const trans = nullTranslator.load('');

describe('a TensorBoard’s tab', () => {
  let server: FakeServer;
  let jobs: Jobs;
  let tab: TensorBoardWidget;

  const empty = someTensorBoard({ has_data: false, last_data_at: null });

  beforeEach(() => {
    server = new FakeServer();
    jobs = new Jobs(new ApiClient(server.settings()));
    server.socket.open();
  });

  afterEach(() => {
    tab.dispose();
    jobs.dispose();
  });

  const open = (
    answer: (request: IFakeRequest) => Response,
    source = {}
  ): void => {
    server.answer = request =>
      request.url.endsWith('/ui/data/runs') ? json(['.']) : answer(request);
    tab = new TensorBoardWidget({
      source: { paths: ['mnist_ddp/runs'], ...source },
      jobs,
      commands: new CommandRegistry(),
      themes: null,
      trans
    });
    Widget.attach(tab, document.body);
  };
  const push = (...tensorboards: ReturnType<typeof someTensorBoard>[]): void =>
    server.socket.push(snapshot({ tensorboards, jobs: [someJob()] }));

  /** Resolves when the tab shows the text. */
  const says = async (text: string): Promise<void> => {
    while (!tab.node.textContent?.includes(text)) {
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  };
  const frame = async (): Promise<HTMLIFrameElement> => {
    for (;;) {
      const node = tab.node.querySelector('iframe');
      if (node) {
        return node;
      }
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  };

  it('asks for the folder and shows the page below the base URL', async () => {
    open(() => json(someTensorBoard()));
    const page = await frame();
    expect(page.src).toBe(
      'http://lab/user/a%40b/t9kjob/tensorboards/tb1/ui/?darkMode=false'
    );
    expect(server.requests[0].body).toEqual({ paths: ['mnist_ddp/runs'] });
    expect(tab.title.label).toBe('TB: mnist_ddp/runs');
    await says('new data');
  });

  it('explains by the job why there is nothing, and opens by itself', async () => {
    open(() => json(empty), { jobId: someJob().id });
    push(empty);
    await says('Nothing has been written here yet');
    await says('is running: 2 processes are running');
    expect(tab.node.querySelector('iframe')).toBeNull();
    push(someTensorBoard());
    const page = await frame();
    push(someTensorBoard({ last_data_at: 1001 }));
    await new Promise(requestAnimationFrame);
    expect(tab.node.querySelector('iframe')).toBe(page);
  });

  it('gives the command when TensorBoard is not installed', async () => {
    open(({ method }) =>
      method === 'POST'
        ? json({ message: 'TensorBoard is not installed.' }, 503)
        : json({
            tensorboards: [],
            available: false,
            reason: null,
            install: 'python -m pip install tensorboard'
          })
    );
    await says('python -m pip install tensorboard');
    server.answer = () => json(empty);
    [...tab.node.querySelectorAll('button')]
      .find(button => button.textContent === 'Try again')
      ?.click();
    await says('Nothing has been written here yet');
  });

  it('says why it failed, with the system’s own words', async () => {
    const failed = someTensorBoard({
      status: 'failed',
      reason: {
        code: 'Exited',
        sentence: 'It ended by itself.',
        hint: null,
        fix: null,
        verbatim: 'ImportError: numpy',
        links: []
      }
    });
    open(() => json(failed));
    await says('It ended by itself.');
    await says('ImportError: numpy');
    server.answer = () => json(empty);
    [...tab.node.querySelectorAll('button')]
      .filter(button => button.textContent === 'Restart')
      .pop()
      ?.click();
    await says('Nothing has been written here yet');
    expect(server.requests[server.requests.length - 1].url).toMatch(
      /tb1\/restart$/
    );
  });

  it('notices its end also when it was in the list before the tab', async () => {
    push(empty);
    await new Promise(requestAnimationFrame);
    open(() => json(empty));
    await says('Nothing has been written here yet');
    push();
    await says('This TensorBoard was stopped');
  });

  it('offers to start again after it was stopped elsewhere', async () => {
    open(() => json(empty));
    await says('Nothing has been written here yet');
    push(empty);
    await new Promise(requestAnimationFrame);
    push();
    await says('This TensorBoard was stopped');
  });
});
