import { nullTranslator } from '@jupyterlab/translation';
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  waitFor
} from '@testing-library/react';
import * as React from 'react';
import { Job, Replica } from '../../../../src/api/types';
import { ILogViewHandle, LogView } from '../../../../src/logs/view/LogView';
import { rankPredicate } from '../../../../src/logs/view/RankFilter';
import { LogModel } from '../../../../src/logs/model/log';
import { LogSearch } from '../../../../src/logs/model/search';
import { LogSession } from '../../../../src/logs/loading/session';
import { failedJob, fullJob, someReplica } from '../../fakeJob';
import { FakeLog, someStream } from '../../fakeLog';

const trans = nullTranslator.load('jupyterlab_t9kjob');

// jsdom lays nothing out and has no observer of sizes.
/** An observer that tells of changes when a test says so. */
class FakeResizeObserver {
  static readonly all = new Set<() => void>();
  constructor(private readonly _tell: () => void) {}
  observe(): void {
    FakeResizeObserver.all.add(this._tell);
  }
  disconnect(): void {
    FakeResizeObserver.all.delete(this._tell);
  }
}
window.ResizeObserver = FakeResizeObserver as unknown as typeof ResizeObserver;

describe('LogView', () => {
  let server: FakeLog;
  let log: LogModel;
  const handle = React.createRef<ILogViewHandle>();
  const openFile = jest.fn();
  const downloadLine = jest.fn();
  const texts = { read: jest.fn(), download: jest.fn() };
  const loadUpdates = jest.fn(async (): Promise<string[]> => ['10%', '20%']);
  const streams = [someStream(0), someStream(1)];

  const settle = (): Promise<void> =>
    act(async () => {
      await server.flush();
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
    });

  function View(props: { job: Job; replica?: Replica }): React.JSX.Element {
    const [look, setLook] = React.useState({ times: true, wrap: false });
    const search = React.useMemo(() => new LogSearch(log), []);
    const errors = React.useMemo(() => new LogSearch(log), []);
    return (
      <LogView
        log={log}
        search={search}
        errors={errors}
        job={props.job}
        replicas={[props.replica ?? someReplica()]}
        look={look}
        setLook={setLook}
        trans={trans}
        openFile={openFile}
        downloadLine={downloadLine}
        loadUpdates={loadUpdates}
        texts={texts}
        downloads={() => []}
        copyAddress={jest.fn()}
        goToTime={() => undefined}
        withShortcut={label => label}
        handle={handle}
      />
    );
  }

  const show = async (job = fullJob()): Promise<HTMLElement> => {
    const { container } = render(<View job={job} />);
    await settle();
    return container;
  };
  const rows = (container: HTMLElement): (string | null | undefined)[] =>
    [...container.querySelectorAll('.jp-t9k-LogRow')].map(
      row => row.querySelector('.jp-t9k-LogRow-text')?.textContent
    );

  beforeEach(() => {
    server = new FakeLog();
    log = new LogModel(new LogSession(server));
  });

  afterEach(() => {
    cleanup();
    log.dispose();
  });

  it('shows lines of all ranks with their rank, and is not read aloud', async () => {
    server.write(streams[0], ['a', 'b'], 0);
    server.write(streams[1], ['c'], 0.5);
    server.connect(streams);
    const container = await show();
    expect(rows(container)).toEqual(['a', 'c', 'b']);
    const gutters = [...container.querySelectorAll('.jp-t9k-LogRow-gutter')];
    expect(gutters.map(gutter => gutter.textContent)).toEqual(['0', '1', '0']);
    expect(screen.getByRole('log').getAttribute('aria-live')).toBe('off');
    expect(container.textContent).toContain('3 lines, 6 B');
    expect(container.textContent).toContain('Following the end');
  });

  it('says in the place of bytes that were removed how many they were', async () => {
    server.write(streams[0], ['a'], 0);
    server.put(streams[0], '', 1, { removed: 1_200_000_000 });
    server.write(streams[0], ['z'], 2);
    server.connect([streams[0]]);
    const container = await show();
    expect(rows(container)).toEqual(['a', 'z']);
    expect(screen.getByRole('separator').textContent).toBe(
      '1.2 GB were removed here to keep the log below its limit'
    );
    expect(container.textContent).toContain('3 lines, 4 B');
  });

  it('says in its place what is missing, and at the end why nothing comes', async () => {
    const stream = someStream(0, {
      missing: [
        {
          sentence: 'Lines may be missing here.',
          offset: 2,
          since: 0,
          until: 60
        }
      ],
      waiting: 'The cluster can’t be reached.'
    });
    server.write(stream, ['a', 'z'], 0);
    server.connect([stream]);
    const container = await show();
    const texts = [
      ...container.querySelectorAll('.jp-t9k-LogRow-text, [role=separator]')
    ].map(element => element.textContent);
    expect(texts).toEqual([
      'a',
      expect.stringMatching(/ – .*: Lines may be missing here\.$/),
      'z',
      'The cluster can’t be reached.'
    ]);
  });

  it('says where there are no lines why, for each that waits', async () => {
    const waits = (replica: string): ReturnType<typeof someStream> =>
      someStream(0, {
        id: `${replica}.1.container.out`,
        replica,
        source: 'container',
        local_rank: null,
        rank: null,
        waiting: 'Its pod has no node yet.'
      });
    server.connect([waits('worker-0'), waits('worker-1')]);
    const container = await show();
    const items = [...container.querySelectorAll('.jp-t9k-LogEmpty li')];
    expect(items.map(item => item.textContent)).toEqual([
      'worker-0 · Its pod has no node yet.',
      'worker-1 · Its pod has no node yet.'
    ]);
  });

  it('says where there are no lines what is missing, with its time span', async () => {
    const stream = someStream(0, {
      source: 'container',
      complete: true,
      missing: [
        { sentence: 'Its log is gone.', offset: 0, since: 0, until: 60 }
      ]
    });
    server.connect([stream]);
    const container = await show();
    const items = [...container.querySelectorAll('.jp-t9k-LogEmpty li')];
    expect(items.map(item => item.textContent)).toEqual([
      expect.stringMatching(/\d\d:00 – .*\d\d:01:00: Its log is gone\.$/)
    ]);
  });

  it('offers what is too long to be shown as a whole', async () => {
    server.put(streams[0], 'x'.repeat(80), 0, { cut: true, size: 20_000_000 });
    server.put(streams[0], 'y'.repeat(80), 1, { cut: true, size: 20_000 });
    server.connect([streams[0]]);
    await show();
    expect(screen.getByText(/the whole line has 20 MB/)).toBeTruthy();
    fireEvent.click(screen.getAllByText('Download it')[0]);
    expect(downloadLine).toHaveBeenCalledWith(
      expect.objectContaining({ offset: 0, size: 20_000_000 })
    );
    const folds = screen.getAllByRole('button', { name: 'The whole line' });
    expect(folds).toHaveLength(1); // of the shorter one
  });

  it('marks the line that was asked for, until one points elsewhere', async () => {
    server.write(streams[0], ['a', 'b', 'c']);
    server.connect([streams[0]]);
    const container = await show();
    act(() => log.mark(streams[0].id, 3));
    await settle();
    const marked = (): (string | null)[] =>
      [...container.querySelectorAll('[data-marked] .jp-t9k-LogRow-text')].map(
        row => row.textContent
      );
    expect(marked()).toEqual(['b']);
    fireEvent.pointerDown(screen.getByRole('log'));
    await settle();
    expect(marked()).toEqual([]);
  });

  it('has a bounded number of rows in the document', async () => {
    server.write(
      streams[0],
      Array.from({ length: 5000 }, (_, index) => `line ${index}`)
    );
    server.connect(streams);
    const container = await show();
    expect(rows(container).length).toBeLessThan(60);
  });

  it('shows markup and control characters inert', async () => {
    server.write(streams[0], ['<img src=x onerror="alert(1)">\0\x1b[31mred']);
    server.connect(streams);
    const container = await show();
    expect(container.querySelector('.jp-t9k-LogRow img')).toBeNull();
    expect(rows(container)).toEqual(['<img src=x onerror="alert(1)">␀red']);
  });

  it('opens files of tracebacks at their line', async () => {
    server.write(streams[0], ['  File "/w/mnist_ddp/train.py", line 96, in f']);
    server.connect(streams);
    await show();
    fireEvent.click(screen.getByText('"/w/mnist_ddp/train.py", line 96'));
    expect(openFile.mock.calls[0][0]).toMatchObject({
      path: 'mnist_ddp/train.py',
      line: 96
    });
  });

  it('hides and shows ranks, times and wrapping', async () => {
    server.write(streams[0], ['a'], 0);
    server.write(streams[1], ['b'], 1);
    server.connect(streams);
    const container = await show();
    fireEvent.click(screen.getByRole('button', { name: 'Rank 0' }));
    await settle();
    expect(rows(container)).toEqual(['b']);
    const region = screen.getByRole('log');
    act(() => handle.current?.toggleTimes());
    act(() => handle.current?.toggleWrap());
    expect(container.querySelector('.jp-t9k-LogRow-time')).toBeNull();
    expect(region.dataset.wrap).toBe('true');
  });

  it('marks what is searched for and counts it', async () => {
    server.write(streams[0], ['accuracy 1', 'loss', 'accuracy 2']);
    server.connect(streams);
    const container = await show();
    const field = screen.getByRole('searchbox');
    act(() => handle.current?.search());
    expect(document.activeElement).toBe(field);
    fireEvent.change(field, { target: { value: 'accuracy' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await settle();
    await settle();
    expect(container.querySelectorAll('mark')).toHaveLength(2);
    // the first one that is not above the view, which is at the end
    expect(container.textContent).toContain('2 of 2');
    fireEvent.keyDown(field, { key: 'Enter' });
    await settle();
    expect(container.textContent).toContain('1 of 2');
    expect(
      container.querySelector('[data-hit="current"]')?.textContent
    ).toContain('accuracy 1');
    fireEvent.keyDown(field, { key: 'Escape' });
    await act(() => new Promise(resolve => setTimeout(resolve, 10)));
    expect(container.querySelectorAll('mark')).toHaveLength(0);
  });

  it('unfolds a progress bar', async () => {
    server.write(streams[0], ['100%']);
    server.connect(streams);
    await settle();
    log.window.lines[0].updates = 938;
    const container = await show();
    expect(container.textContent).toContain('938 updates in one line');
    fireEvent.click(screen.getByRole('button', { name: /All updates/ }));
    await settle();
    expect(container.textContent).toContain('936 earlier updates');
    expect(container.textContent).toContain('20%');
  });

  it('keeps a progress bar unfolded while it moves, and reads it again', async () => {
    const bar = { partial: true, updates: 2 };
    server.put(streams[0], '20%', 0, { ...bar, size: 4 });
    server.connect(streams);
    const container = await show();
    fireEvent.click(screen.getByRole('button', { name: /All updates/ }));
    await settle();
    loadUpdates.mockResolvedValue(['10%', '20%', '30%']);
    server.put(streams[0], '30%', 1, { ...bar, size: 8 });
    await settle();
    const unfolded = '.jp-t9k-LogRow-updates';
    expect(container.querySelector(unfolded)?.textContent).toBe('10%20%');
    await waitFor(() =>
      expect(container.querySelector(unfolded)?.textContent).toBe('10%20%30%')
    );
  });

  it('says that a search without a connection was not done', async () => {
    server.write(streams[0], ['a'], 0);
    server.connect(streams);
    const container = await show();
    act(() => server.break());
    const field = screen.getByRole('searchbox');
    fireEvent.change(field, { target: { value: 'a' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await settle();
    const count = container.querySelector('.jp-t9k-LogSearch-count');
    expect(count?.textContent).toBe('not searched');
    await act(async () => server.connect(streams));
    await settle();
    await settle();
    expect(count?.textContent).toMatch('1');
  });

  it('says between attempts why the next one began', async () => {
    const second = someStream(0, { attempt: 2 });
    server.write(streams[0], ['first'], 0);
    server.write(second, ['second'], 10);
    server.connect([streams[0], second]);
    const [attempt] = someReplica().attempts;
    const replica = someReplica({
      attempts: [
        { ...attempt, started_at: 0, ended_at: 4, ended: 'Error (1)' },
        { ...attempt, number: 2, started_at: 9 }
      ]
    });
    const { container } = render(<View job={fullJob()} replica={replica} />);
    await settle();
    expect(screen.getByRole('separator').textContent).toMatch(
      /Attempt 2started at .+\. Attempt 1 ended after 4 s: Error \(1\)\./
    );
    fireEvent.click(screen.getByText('Only attempt 2'));
    await settle();
    expect(rows(container)).toEqual(['second']);
  });

  it.each([
    [fullJob(), 'have written nothing so far'],
    [fullJob({ phase: 'Paused' }), 'it is paused'],
    [
      fullJob({
        phase: 'Pending',
        reason: {
          code: 'WaitingForDevices',
          sentence: 'Waiting for 2 GPUs.',
          hint: null,
          fix: null,
          verbatim: null,
          links: []
        }
      }),
      'No log yet: Waiting for 2 GPUs.'
    ],
    [failedJob(), 'ended without writing anything']
  ])('explains why there is nothing (%#)', async (job, sentence) => {
    server.connect([]);
    const container = await show(job);
    expect(container.textContent).toContain(sentence);
  });

  it('follows on when the view has grown, and stops when somebody scrolls up', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    server.write(streams[0], lines);
    server.connect(streams);
    const container = await show();
    const box = screen.getByRole('log');
    const height = box.scrollTop;
    Object.defineProperties(box, {
      scrollHeight: { value: height, configurable: true },
      clientHeight: { value: 100, configurable: true }
    });
    const scrollTo = (top: number): void => {
      box.scrollTop = top;
      fireEvent.scroll(box);
    };
    const [probe] = container.getElementsByClassName('jp-t9k-LogLines-probe');
    probe.getBoundingClientRect = () =>
      ({ left: 0, right: 70, width: 70, height: 18 }) as DOMRect;
    act(() => FakeResizeObserver.all.forEach(tell => tell()));
    scrollTo(height - 100); // as a browser does, for there is nothing below
    await settle();
    expect(container.textContent).toContain('Following the end');
    scrollTo(height - 200);
    await settle();
    expect(container.textContent).toContain('Not following');
  });

  it('counts what came since, and jumps to the end', async () => {
    server.write(streams[0], ['a'], 0);
    server.connect(streams);
    const container = await show();
    act(() => log.setFollowing(false));
    server.write(streams[0], ['b', 'c'], 1);
    await settle();
    const jump = screen.getByText('Jump to end');
    expect(jump.textContent).toContain('2 new lines');
    fireEvent.click(jump);
    await settle();
    expect(container.textContent).toContain('Following the end');
    expect(screen.queryByText('Jump to end')).toBeNull();
  });
});

describe('rankPredicate', () => {
  it('understands ranges, single ranks and nothing', () => {
    const shown = rankPredicate('0-3, 8');
    expect(['0', '3', '4', '8', '80'].filter(shown)).toEqual(['0', '3', '8']);
    expect(rankPredicate(' ')('7')).toBe(true);
    expect(rankPredicate('worker-1:0')('worker-1:0')).toBe(true);
  });
});
