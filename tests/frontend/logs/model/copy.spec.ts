import { ApiError } from '../../../../src/api/errors';
import { LogCopy } from '../../../../src/logs/model/copy';
import { LogSelection, LogStep } from '../../../../src/logs/model/selection';
import { LogModel } from '../../../../src/logs/model/log';
import { LogSession } from '../../../../src/logs/loading/session';
import { streamQuery } from '../../../../src/logs/model/text';
import { FakeLog, someStream } from '../../fakeLog';

const streams = [someStream(0), someStream(1)];

let server: FakeLog;
let log: LogModel;
let selection: LogSelection;
let copy: LogCopy;
const texts = { read: jest.fn(), download: jest.fn() };
const clipboard = { now: jest.fn(), later: jest.fn() };

async function settle(): Promise<void> {
  await server.flush();
  await new Promise(requestAnimationFrame);
  await server.flush();
}

beforeEach(() => {
  jest.resetAllMocks();
  clipboard.now.mockReturnValue(true);
  server = new FakeLog();
  log = new LogModel(new LogSession(server));
  selection = new LogSelection(log);
  copy = new LogCopy(log, selection, texts, clipboard);
});

afterEach(() => {
  copy.dispose();
  log.dispose();
});

function select(from: [number, number], to: [number, number]): void {
  const [anchor, focus] = [from, to].map(([index, column]) =>
    selection.pointAt({ ordinal: log.window.first + index, column })
  );
  if (!anchor || !focus) {
    throw new Error('no such line');
  }
  selection.set(anchor, focus);
}

describe('what the page holds', () => {
  beforeEach(async () => {
    server.write(streams[0], ['\x1b[31mred\x1b[0m', 'two', 'three'], 0, 2);
    server.write(streams[1], ['other'], 1);
    server.connect(streams);
    await settle();
  });

  it.each([
    ['forward', [0, 1], [2, 2], 'ed\nother\ntw', 3],
    ['backward', [2, 2], [0, 1], 'ed\nother\ntw', 3],
    ['within a line', [1, 1], [1, 3], 'th', 1],
    ['whole lines', [1, 0], [3, 0], 'other\ntwo\n', 2]
  ] as const)('is copied at once: %s', async (_, from, to, text, lines) => {
    select([...from], [...to]);
    await copy.copy(false);
    expect(clipboard.now).toHaveBeenCalledWith(text);
    expect(copy.state).toEqual({ kind: 'copied', lines, size: text.length });
    expect(texts.read).not.toHaveBeenCalled();
  });

  it('is copied whole by selecting all, and with ranks and times', async () => {
    selection.selectAll();
    await copy.copy(false);
    expect(clipboard.now).toHaveBeenLastCalledWith('red\nother\ntwo\nthree');
    await copy.copy(true);
    const [text] = clipboard.now.mock.lastCall;
    expect(text.split('\n')[1]).toMatch(/^1 \d\d:\d\d:01\.000 other$/);
  });

  it('stays selected while lines come, and what came belongs to all', async () => {
    select([1, 0], [2, 3]);
    server.write(streams[0], ['four'], 10);
    await settle();
    await copy.copy(false);
    expect(clipboard.now).toHaveBeenLastCalledWith('other\ntwo');
    selection.selectAll();
    await copy.copy(false);
    expect(clipboard.now).toHaveBeenLastCalledWith(
      'red\nother\ntwo\nthree\nfour'
    );
  });

  it.each([
    [['down'], 'red\n'],
    [['lineEnd'], 'red'],
    [['right', 'right', 'left'], 'r'],
    [['down', 'right', 'up', 'left'], ''],
    [['pageDown'], 'red\nother\ntwo\n'],
    [['end'], 'red\nother\ntwo\nthree']
  ] as [LogStep[], string][])(
    'is selected by keys: %j',
    async (steps, text) => {
      const top = { ordinal: log.window.first, column: 0 };
      steps.forEach(step => selection.move(step, top, 3));
      await copy.copy(false);
      if (text) {
        expect(clipboard.now).toHaveBeenLastCalledWith(text);
      } else {
        expect(selection.isEmpty).toBe(true);
      }
    }
  );

  it('waits for a click where the browser does not let it be copied', async () => {
    clipboard.now.mockReturnValue(false);
    selection.selectAll();
    await copy.copy(false);
    expect(copy.state).toMatchObject({ kind: 'ready', lines: 4 });
    clipboard.now.mockReturnValue(true);
    copy.finish();
    expect(copy.state).toMatchObject({ kind: 'copied', lines: 4 });
  });

  it('is not copied from here where a line is cut', async () => {
    server.put(streams[0], 'long', 20, { cut: true, size: 100_000 });
    await settle();
    selection.selectAll();
    clipboard.later.mockRejectedValue(new Error());
    texts.read.mockResolvedValue('all of it\n');
    await copy.copy(false);
    expect(clipboard.now).toHaveBeenLastCalledWith('all of it');
  });
});

describe('what the page does not hold', () => {
  const many = Array.from({ length: 30_000 }, (_, line) => `line ${line}`);

  beforeEach(async () => {
    server.write(streams[0], many);
    server.connect(streams);
    await settle();
    clipboard.later.mockImplementation(async (text: Promise<string>) => {
      await text;
    });
  });

  it('is read from the server, as it is shown', async () => {
    selection.selectAll();
    texts.read.mockResolvedValue('\x1b[1ma\x1b[0m\x00\nb\n');
    const copying = copy.copy(false);
    expect(copy.state.kind).toBe('reading');
    await copying;
    await expect(clipboard.later.mock.lastCall[0]).resolves.toBe('a␀\nb');
    expect(texts.read).toHaveBeenCalledWith({ attempt: 1, limit: 10_000_000 });
    expect(copy.state).toEqual({ kind: 'copied', lines: 2, size: 4 });
  });

  it('is selected from a line on that the page has left, to where it is now', async () => {
    const start = selection.pointAt({ ordinal: log.window.end - 1, column: 5 });
    log.go({ at: 'start' });
    await settle();
    const end = selection.pointAt({ ordinal: log.window.first, column: 2 });
    if (!start || !end) {
      throw new Error('no such line');
    }
    selection.set(start, end);
    texts.read.mockResolvedValue('line 0\nline 1\nline 29999\n');
    await copy.copy(false);
    expect(texts.read).toHaveBeenCalledWith({
      attempt: 1,
      from_stream: streams[0].id,
      from_offset: 0,
      from_time: 0,
      to_stream: streams[0].id,
      to_offset: start.offset,
      to_time: 29_999,
      limit: 10_000_000
    });
    await expect(clipboard.later.mock.lastCall[0]).resolves.toBe(
      'ne 0\nline 1\nline '
    );
  });

  it('has ranks and times on demand', async () => {
    selection.selectAll();
    texts.read.mockResolvedValue(
      `${streams[1].id}\t1970-01-01T00:00:02.500Z\ta\tb\n`
    );
    await copy.copy(true);
    const text = await clipboard.later.mock.lastCall[0];
    expect(text).toMatch(/^1 \d\d:\d\d:02\.500 a\tb$/);
  });

  it('is copied in the older way where the newer one is refused', async () => {
    selection.selectAll();
    clipboard.later.mockRejectedValue(new TypeError());
    texts.read.mockResolvedValue('a\n');
    await copy.copy(false);
    expect(clipboard.now).toHaveBeenCalledWith('a');
    expect(copy.state.kind).toBe('copied');
  });

  it('is offered as a download where it is too large', async () => {
    selection.selectAll();
    const message = 'These lines have 48 MB. At most 10 MB can be copied.';
    texts.read.mockRejectedValue(new ApiError(413, { message }));
    await copy.copy(false);
    const { state } = copy;
    if (state.kind !== 'failed') {
      throw new Error(state.kind);
    }
    expect(state.message).toBe(message);
    state.download?.();
    expect(texts.download).toHaveBeenCalledWith({ attempt: 1 });
  });

  it('is said not to be copied where the server does not answer', async () => {
    selection.selectAll();
    texts.read.mockRejectedValue(new ApiError(0, { message: 'No answer.' }));
    await copy.copy(false);
    expect(copy.state).toMatchObject({ message: 'No answer.', download: null });
    expect(clipboard.now).not.toHaveBeenCalled();
  });
});

describe('streams in an address', () => {
  const all = Array.from({ length: 3000 }, (_, rank) =>
    someStream(rank, rank % 3 ? {} : { source: 'launcher' })
  );
  const ranks = all.filter(({ source }) => source === 'rank');

  it('are named in few words, or not at all', () => {
    expect(streamQuery(all, ranks)).toEqual({ attempt: 1, sources: 'rank' });
    expect(streamQuery(all, ranks.slice(1))).toEqual({
      attempt: 1,
      sources: 'rank',
      except: ranks[0].id
    });
    expect(streamQuery(all, [ranks[0]])).toEqual({
      attempt: 1,
      sources: 'rank',
      streams: ranks[0].id
    });
    expect(streamQuery(all, ranks.slice(1000))).toBeNull();
  });
});
