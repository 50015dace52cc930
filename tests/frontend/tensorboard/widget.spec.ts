import { ToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';
import schema from '../../../jupyterlab_t9kjob/schema/tensorboard.json';
import { ApiClient } from '../../../src/api/client';
import { Reason } from '../../../src/api/types';
import { Jobs } from '../../../src/jobs/model/jobs';
import { TensorBoardPages } from '../../../src/tensorboard/pages';
import { TensorBoardWidget } from '../../../src/tensorboard/widget';
import {
  FakeServer,
  IFakeRequest,
  delta,
  json,
  snapshot,
  someJob,
  someTensorBoard
} from '../fakes';

const trans = nullTranslator.load('');

const reason = (code: string, sentence: string): Reason => ({
  code,
  sentence,
  hint: null,
  fix: null,
  verbatim: null,
  links: []
});

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
    const toolbars = new ToolbarWidgetRegistry({
      defaultFactory: () => new Widget()
    });
    const items = schema['jupyter.lab.toolbars'].TensorBoard;
    tab = new TensorBoardPages({
      jobs,
      commands: new CommandRegistry(),
      toolbars,
      createToolbar: widget =>
        items.map(({ name }) => ({
          name,
          widget: toolbars.createWidget('TensorBoard', widget, { name })
        })),
      themes: null,
      trans
    }).create({ paths: ['mnist_ddp/runs'], ...source });
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
    push(someTensorBoard({ runs: 2, points: 1160 }));
    await says(' · 2 runs, 1\u202f160 points');
    push(someTensorBoard({ runs: 1, points: null }));
    await says(' · 1 run');
  });

  it('explains by the job why there is nothing, and opens by itself', async () => {
    open(() => json(empty), { jobId: someJob().id });
    push(empty);
    await says('Nothing has been written here yet');
    await says('is running: Running');
    expect(tab.node.querySelector('iframe')).toBeNull();
    push(someTensorBoard());
    const page = await frame();
    push(someTensorBoard({ last_data_at: 1001 }));
    await new Promise(requestAnimationFrame);
    expect(tab.node.querySelector('iframe')).toBe(page);
  });

  it.each([
    [null, 'There are no event files'],
    ['NoFolder', 'The folder does not exist']
  ])('promises nothing for a job that has ended: %s', async (code, title) => {
    const board = {
      ...empty,
      reason: code ? reason(code, 'Not there.') : null
    };
    const job = someJob({ phase: 'Succeeded' });
    open(() => json(board), { jobId: job.id });
    server.socket.push(snapshot({ tensorboards: [board], jobs: [job] }));
    await says('The job has ended, and no event file was found in');
    await says(board.log_dirs[0]);
    const heading = tab.node.querySelector('h2');
    expect(heading?.textContent).toBe(title);
    expect(tab.node.textContent).not.toMatch(/by itself|yet/);
  });

  it.each([
    ['is not in the list', []],
    ['is not heard of', [someJob({ phase: 'Unknown' })]]
  ])('promises nothing for a job that %s', async (_, listed) => {
    open(() => json(empty), { jobId: someJob().id });
    server.socket.push(snapshot({ tensorboards: [empty], jobs: listed }));
    await says('No event file was found in');
    const text = tab.node.textContent;
    expect(text).not.toMatch(/by itself|yet|has ended/);
  });

  it('is made anew by news of itself, not by those of jobs, and has its job’s name', async () => {
    open(() => json(empty), { jobId: someJob().id });
    push(empty);
    await says('Nothing has been written here yet');
    await says('Job mnist-ddp-1');
    while (tab.model.board !== jobs.tensorboards[0]) {
      await frames();
    }
    const changed = jest.fn();
    tab.model.changed.connect(changed);
    server.socket.push(delta({ jobs: [someJob({ display_name: 'Mine' })] }));
    await says('Job Mine');
    expect(changed).not.toHaveBeenCalled();
    const told = { ...reason('FolderGone', 'It is gone.'), hint: 'Look.' };
    server.socket.push(delta({ tensorboards: [{ ...empty, reason: told }] }));
    await says('The folder has been removed');
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it('gives the command when TensorBoard is not installed', async () => {
    open(({ method }) =>
      method === 'POST'
        ? json(
            {
              message: 'TensorBoard is not installed.',
              code: 'TensorBoardMissing'
            },
            503
          )
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
        ...reason('Ended', 'It ended by itself.'),
        verbatim: 'ImportError: numpy'
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

  const frames = async (): Promise<void> => {
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  };
  const seconds = (ago: number): number => Date.now() / 1000 - ago;
  const opened = (): number =>
    server.requests.filter(
      ({ method, url }) => method === 'POST' && url.endsWith('/tensorboards')
    ).length;

  it('says for how long it has been starting, and why that takes', async () => {
    open(() => json({ ...empty, status: 'starting', since: seconds(12) }));
    await says('TensorBoard is starting');
    await says('Time so far: 12 s');
    push({
      ...empty,
      status: 'starting',
      since: seconds(20),
      reason: reason('SlowStart', 'It is loading its libraries.')
    });
    await says('It is loading its libraries.');
    await says('Time so far: 20 s');
  });

  it('offers a restart when it does not answer, and comes back by itself', async () => {
    open(() => json(someTensorBoard()));
    const page = await frame();
    push({
      ...someTensorBoard(),
      status: 'unresponsive',
      since: seconds(40),
      reason: reason('NotAnswering', 'It may hang.')
    });
    await says('TensorBoard does not answer');
    await says('Time without an answer: 40 s');
    const hidden = (): boolean => page.closest('.lm-mod-hidden') !== null;
    expect(hidden()).toBe(true);
    const buttons = [...tab.node.querySelectorAll('.jp-t9k-EmptyState button')];
    expect(buttons.map(button => button.textContent)).toEqual(['Restart']);
    push(someTensorBoard());
    await frames();
    expect(hidden()).toBe(false);
    expect(await frame()).toBe(page);
  });

  it('has its page ask again when the process is another one, and keeps the page', async () => {
    open(() => json(someTensorBoard()));
    const page = await frame();
    const pressed = jest.fn();
    // The test's browser loads no frames.
    const content = document.implementation.createHTMLDocument();
    content.body.innerHTML =
      '<app-header-reload><button></button></app-header-reload>';
    content.querySelector('button')?.addEventListener('click', pressed);
    Object.defineProperty(page, 'contentDocument', { value: content });
    push({ ...someTensorBoard(), status: 'idle' });
    await frames();
    push({ ...someTensorBoard(), status: 'starting', started_at: 2000 });
    await says('TensorBoard is starting');
    expect(pressed).not.toHaveBeenCalled();
    push({ ...someTensorBoard(), started_at: 2000 });
    while (!pressed.mock.calls.length) {
      await frames();
    }
    push({ ...someTensorBoard(), started_at: 2000, last_data_at: 2001 });
    await frames();
    expect(pressed).toHaveBeenCalledTimes(1);
    expect(await frame()).toBe(page);
  });

  it('opens again by itself after a restart of the server', async () => {
    open(() => json(someTensorBoard()));
    const page = await frame();
    push(someTensorBoard());
    await frames();
    expect(opened()).toBe(1);
    server.socket.break();
    await frames();
    // Another server: it knows nothing of it yet.
    jobs.reconnect();
    server.socket.open();
    await frames();
    expect(opened()).toBe(1);
    push();
    await frames();
    expect(opened()).toBe(2);
    push(someTensorBoard());
    await frames();
    expect(await frame()).toBe(page);
    // Stopped by somebody, it stays so.
    push();
    await says('This TensorBoard was stopped');
    expect(opened()).toBe(2);
  });

  it('stays as it is when only the connection was lost', async () => {
    open(() => json(someTensorBoard()));
    await frame();
    push(someTensorBoard());
    await frames();
    server.socket.break();
    await frames();
    jobs.reconnect();
    server.socket.open();
    push(someTensorBoard());
    await frames();
    expect(opened()).toBe(1);
  });

  it.each([
    ['NoFolder', 'The folder does not exist yet'],
    ['FolderGone', 'The folder has been removed'],
    ['FolderUnreadable', 'The folder can’t be read'],
    ['FolderHangs', 'The folder’s disk does not answer']
  ])('says what is wrong with the folder: %s', async (code, title) => {
    const told = { ...reason(code, 'In other words.'), hint: 'Do this.' };
    open(() => json({ ...empty, reason: told }));
    await says(title);
    await says('In other words. Do this.');
    expect(tab.node.textContent).toContain('no event files yet');
  });

  it('says beside the curves what is wrong with another folder', async () => {
    const told = reason('NoFolder', '/w/b does not exist yet.');
    open(() => json(someTensorBoard({ reason: told })));
    await frame();
    await says('/w/b does not exist yet.');
  });

  it('says why no more may run', async () => {
    open(() =>
      json(
        {
          message: '10 TensorBoards run and are looked at.',
          hint: 'Stop one of them.'
        },
        409
      )
    );
    await says('TensorBoard could not be opened');
    await says('10 TensorBoards run and are looked at. Stop one of them.');
  });

  it.each([
    ['DENY', null, 'X-Frame-Options: DENY'],
    [
      'SAMEORIGIN',
      "default-src *; frame-ancestors 'none'",
      "Content-Security-Policy: frame-ancestors 'none'"
    ],
    [null, "frame-ancestors 'self'", 'The cause is not known.']
  ])(
    'says so when the browser refuses its page: %s, %s',
    async (options, policy, said) => {
      open(() => json(someTensorBoard()));
      const page = await frame();
      const hidden = (): boolean => page.closest('.lm-mod-hidden') !== null;
      expect(hidden()).toBe(false);
      const headers = new Headers({
        ...(options && { 'X-Frame-Options': options }),
        ...(policy && { 'Content-Security-Policy': policy })
      });
      const fetched = jest.fn(() => Promise.resolve({ headers }));
      const original = window.fetch;
      window.fetch = fetched as unknown as typeof fetch;
      // So does a browser that shows a page of its own in place of the one that is refused.
      Object.defineProperty(page, 'contentDocument', {
        value: null,
        configurable: true
      });
      page.dispatchEvent(new Event('load'));
      await says('The browser does not show TensorBoard in this tab');
      await says(said);
      window.fetch = original;
      expect(hidden()).toBe(true);
      const opening = jest.spyOn(window, 'open').mockReturnValue(null);
      const press = (name: string): void =>
        [...tab.node.querySelectorAll('button')]
          .find(button => button.textContent === name)
          ?.click();
      press('Open in a new browser tab');
      expect(opening).toHaveBeenCalledWith(
        'http://lab/user/a%40b/t9kjob/tensorboards/tb1/ui/',
        '_blank',
        'noopener'
      );
      opening.mockRestore();
      press('Try again');
      Reflect.deleteProperty(page, 'contentDocument');
      page.dispatchEvent(new Event('load'));
      await frames();
      expect(hidden()).toBe(false);
    }
  );

  it('lets its page rest while another tab is in front', async () => {
    open(() => json(someTensorBoard()));
    const page = (await frame()).contentDocument as Document;
    const told = jest.fn();
    page.addEventListener('visibilitychange', () => told(page.hidden));
    tab.hide();
    expect(page.visibilityState).toBe('hidden');
    tab.show();
    expect(told.mock.calls).toEqual([[true], [document.hidden]]);
    expect(page.visibilityState).toBe(document.visibilityState);
  });
});
