import { LogModel } from '../../../../src/logs/model/log';
import { ILogReveal } from '../../../../src/logs/model/place';
import { LogSearch } from '../../../../src/logs/model/search';
import { LogSession } from '../../../../src/logs/loading/session';
import { SHOW_ALL } from '../../../../src/logs/loading/streams';
import { FakeLog, someStream } from '../../fakeLog';

const frame = (): Promise<unknown> => new Promise(requestAnimationFrame);
const numbered = (count: number, word = 'line'): string[] =>
  Array.from({ length: count }, (_, index) => `${word} ${index}`);

describe('LogModel', () => {
  let server: FakeLog;
  let log: LogModel;

  const settle = async (): Promise<void> => {
    await server.flush();
    await frame();
  };
  const texts = (): string[] => log.window.lines.map(line => line.text);
  const asked = (type: string): number =>
    server.asked.filter(message => message.type === type).length;

  beforeEach(() => {
    server = new FakeLog();
    log = new LogModel(new LogSession(server));
  });

  afterEach(() => log.dispose());

  it('opens at the end and follows', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(3000));
    server.connect([stream]);
    await settle();
    expect(texts()).toHaveLength(1000);
    expect(texts()[999]).toBe('line 2999');
    expect(log.following && log.live).toBe(true);

    server.put(stream, 'news', 4000);
    await settle();
    expect(texts()[1000]).toBe('news');
    expect(server.asked[server.asked.length - 1]).toEqual({
      type: 'ack',
      sequence: 1
    });
  });

  it('pages to the start, every line once and in order', async () => {
    const streams = [someStream(0), someStream(1)];
    server.write(streams[0], numbered(2600, 'a'));
    server.write(streams[1], numbered(2600, 'b'));
    server.connect(streams);
    await settle();
    while (!log.window.atStart) {
      log.setView({ first: log.window.first, last: log.window.first + 40 });
      const loading = log.loadBefore();
      await settle();
      await loading;
    }
    const expected = numbered(2600).flatMap((_, i) => [`a ${i}`, `b ${i}`]);
    expect(texts()).toEqual(expected);
    expect(log.window.linesBefore).toBe(0);
  });

  it('has no gap when lines pushed together are too many to be held', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(1000));
    server.connect([stream]);
    await settle();
    log.setView({ first: log.window.first, last: log.window.first + 40 });
    log.setFollowing(false);
    server.write(stream, numbered(12_000, 'new'));
    for (let pushed = 0; pushed < 12_000; pushed += 2000) {
      server.push(); // six messages at once
    }
    while (log.window.atEnd) {
      await frame(); // a slow machine takes them in several
    }
    const expected = [...numbered(1000), ...numbered(12_000, 'new')];
    expect(texts()).toEqual(expected.slice(0, texts().length));
    const loading = log.loadAfter();
    await settle();
    await loading;
    const last = texts()[texts().length - 1];
    expect(texts()).toEqual(
      expected.slice(expected.indexOf(texts()[0]), expected.indexOf(last) + 1)
    );
  });

  it('holds a bounded part of a long log and pages through it', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(25_000));
    server.connect([stream]);
    await settle();
    log.go({ at: 'start' });
    await settle();
    expect(log.following).toBe(false);
    const seen: string[] = [];
    while (!log.window.atEnd) {
      const before = log.window.end;
      const loading = log.loadAfter();
      await settle();
      await loading;
      seen.push(
        ...log.window.lines.slice(before - log.window.first).map(l => l.text)
      );
      expect(log.window.lines.length).toBeLessThanOrEqual(10_000);
    }
    expect(seen).toEqual(numbered(25_000).slice(1000));
    expect(log.window.linesBefore).toBe(15_000);
    expect(log.live).toBe(true);
  });

  it('takes in over several frames what one would be too long for', async () => {
    const stream = someStream(0);
    server.connect([stream]);
    await settle();
    let now = 0;
    const clock = jest
      .spyOn(performance, 'now')
      .mockImplementation(() => (now += 10)); // every message takes a frame's time
    server.write(stream, numbered(600));
    for (let pushed = 0; pushed < 600; pushed += 200) {
      server.push(200);
    }
    const shown = [];
    for (let frames = 0; frames < 3; frames++) {
      await frame();
      shown.push(log.window.lines.length);
    }
    clock.mockRestore();
    expect(shown).toEqual([200, 400, 600]);
    expect(texts()).toEqual(numbered(600));
    expect(server.asked.slice(-3)).toEqual(
      [1, 2, 3].map(sequence => ({ type: 'ack', sequence }))
    );
  });

  it('counts new lines instead of moving when it does not follow', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(10));
    server.connect([stream]);
    await settle();
    log.setFollowing(false);
    server.write(stream, numbered(214, 'new'), 100);
    await settle();
    expect(log.newLines).toBe(214);
    log.setFollowing(true);
    expect(log.newLines).toBe(0);
  });

  it('lets go of the end rather than grow without bound', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(10));
    server.connect([stream]);
    await settle();
    log.setFollowing(false);
    server.write(stream, numbered(12_000, 'new'), 100, 0.01);
    for (let i = 0; i < 8; i++) {
      await settle();
    }
    expect(log.window.lines).toHaveLength(10_000);
    expect(log.window.atEnd || log.live).toBe(false);
    expect(texts()[0]).toBe('line 0');
    log.setFollowing(true);
    await settle();
    expect(texts().pop()).toBe('new 11999');
  });

  it('goes to the end instead of through everything when far behind', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(10));
    server.connect([stream]);
    await settle();
    server.write(stream, numbered(9000, 'new'), 100, 0.01);
    for (let i = 0; i < 6; i++) {
      await settle();
    }
    expect(texts().pop()).toBe('new 8999');
    expect(asked('read')).toBe(2);
    expect(log.following && log.live).toBe(true);
  });

  it('replaces a partial line as it grows', async () => {
    const stream = someStream(0);
    server.put(stream, '10%', 1, { partial: true });
    server.connect([stream]);
    await settle();
    expect(texts()).toEqual(['10%']);
    server.put(stream, '10% 20%', 2, { partial: true });
    await settle();
    expect(texts()).toEqual(['10% 20%']);
    server.put(stream, '10% 20% done', 3);
    server.put(stream, 'next', 4);
    await settle();
    expect(texts()).toEqual(['10% 20% done', 'next']);
  });

  it('goes on after a reconnection without loss or repetition', async () => {
    const streams = [someStream(0), someStream(1)];
    server.write(streams[0], numbered(5, 'a'));
    server.put(streams[1], 'half', 3, { partial: true });
    server.connect(streams);
    await settle();
    server.break();
    await frame();
    expect(log.connected).toBe(false);
    server.put(streams[1], 'half and half', 6);
    server.write(streams[0], numbered(5, 'later'), 7);
    server.connect();
    await settle();
    expect([...texts()].sort()).toEqual(
      [...numbered(5, 'a'), 'half and half', ...numbered(5, 'later')].sort()
    );
    expect(log.live).toBe(true);
  });

  it('loads what was asked for while the connection was away', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(5000));
    server.connect([stream]);
    await settle();
    log.go({ at: 'start' });
    server.break();
    server.connect();
    await settle();
    expect(texts()[0]).toBe('line 0');
    expect(log.window.atStart).toBe(true);
  });

  it('shows a line with what all ranks wrote around it', async () => {
    const streams = [someStream(0), someStream(1)];
    server.write(streams[0], numbered(8000, 'a'));
    server.write(streams[1], numbered(8000, 'b'));
    server.connect(streams);
    await settle();
    const revealed: ILogReveal[] = [];
    log.revealed.connect((_, reveal) => revealed.push(reveal));
    const offset = numbered(3000, 'b').join('\n').length + 1;
    log.go({ at: 'line', stream: streams[1].id, offset });
    await settle();
    const found = log.window.line(revealed[0].ordinal);
    expect(found?.text).toBe('b 3000');
    const around = texts().slice(
      revealed[0].ordinal - log.window.first - 3,
      revealed[0].ordinal - log.window.first + 2
    );
    expect(around).toEqual(['a 2999', 'b 2999', 'a 3000', 'b 3000', 'a 3001']);
    expect(log.following).toBe(false);
  });

  it('goes to a fraction of the bytes', async () => {
    const streams = [someStream(0), someStream(1)];
    server.write(streams[0], numbered(8000, 'a'));
    server.write(streams[1], numbered(8000, 'b'));
    server.connect(streams);
    await settle();
    log.go({ at: 'fraction', fraction: 0.5 });
    await settle();
    expect(Number(texts()[0].split(' ')[1])).toBeGreaterThan(3500);
    expect(Number(texts()[0].split(' ')[1])).toBeLessThan(4500);
  });

  it('takes in streams that begin later', async () => {
    const first = someStream(0);
    server.write(first, numbered(3));
    server.connect([first]);
    await settle();
    const second = someStream(0, { attempt: 2 });
    server.streams = [first, second];
    server.list();
    server.write(second, ['again'], 10);
    await settle();
    expect(texts()).toEqual(['line 0', 'line 1', 'line 2', 'again']);
  });

  it('shows the ranks that are chosen, at the same time', async () => {
    const streams = [someStream(0), someStream(1)];
    server.write(streams[0], numbered(3000, 'a'));
    server.write(streams[1], numbered(3000, 'b'));
    server.connect(streams);
    await settle();
    log.go({ at: 'time', time: 1500 });
    await settle();
    log.setView({ first: 0, last: 30 });
    log.setFilter({ ...SHOW_ALL, hidden: ['worker-0/0'] });
    await settle();
    expect(texts()[0]).toBe('b 1500');
    expect(log.chosen.map(stream => stream.rank)).toEqual([1]);
  });

  it('waits for the first line of an empty log', async () => {
    server.connect([]);
    await settle();
    expect(log.streams).toEqual([]);
    const stream = someStream(0);
    server.streams = [stream];
    server.list();
    server.write(stream, ['first'], 1);
    await settle();
    expect(texts()).toEqual(['first']);
  });

  it('is not sent lines while nobody looks', async () => {
    const stream = someStream(0);
    server.write(stream, numbered(3));
    server.connect([stream]);
    await settle();
    log.setActive(false);
    server.write(stream, numbered(3, 'meanwhile'), 10);
    await settle();
    expect(texts()).toHaveLength(3);
    log.setActive(true);
    await settle();
    expect(texts()).toHaveLength(6);
  });
});

describe('LogSearch', () => {
  let server: FakeLog;
  let log: LogModel;
  let search: LogSearch;
  const stream = someStream(0);
  const query = { pattern: 'needle', regex: false, caseSensitive: false };

  const settle = async (): Promise<void> => {
    await server.flush();
    await frame();
  };
  const set = async (pattern: string): Promise<void> => {
    const done = search.set({ ...query, pattern });
    await settle();
    await done;
  };

  beforeEach(async () => {
    server = new FakeLog();
    log = new LogModel(new LogSession(server));
    search = new LogSearch(log);
    server.write(
      stream,
      numbered(5000).map((text, i) =>
        i % 1000 === 7 ? `${text} needle` : text
      )
    );
    server.connect([stream]);
    await settle();
  });

  afterEach(() => {
    search.dispose();
    log.dispose();
  });

  it('finds lines far away and goes through them, round and round', async () => {
    await set('needle');
    expect(search.hits).toHaveLength(5);
    const revealed: (string | undefined)[] = [];
    log.revealed.connect((_, { ordinal }) =>
      revealed.push(log.window.line(ordinal)?.text)
    );
    log.setView({ first: log.window.first, last: log.window.first + 30 });
    search.next();
    await settle();
    search.next();
    await settle();
    search.previous();
    await settle();
    expect(search.current).toBe(4);
    expect(revealed).toEqual([
      'line 4007 needle',
      'line 7 needle',
      'line 4007 needle'
    ]);
  });

  it('adds lines that come later', async () => {
    await set('needle');
    server.put(stream, 'a late Needle', 9000);
    await settle();
    expect(search.hits).toHaveLength(6);
    expect(search.hitOf({ stream: stream.id, offset: 0 })).toBeUndefined();
    expect(search.hitOf(search.hits[5])).toBe(5);
  });

  it('keeps only the answer to the last query', async () => {
    const first = search.set({ ...query, pattern: 'line' });
    const second = search.set(query);
    await settle();
    await Promise.all([first, second]);
    expect(search.hits).toHaveLength(5);
    expect(search.error).toBeNull();
  });

  it('waits for another search on the same log', async () => {
    const other = new LogSearch(log);
    const both = [
      search.set(query),
      other.set({ ...query, pattern: 'line 42' })
    ];
    await settle();
    await settle();
    await Promise.all(both);
    expect(search.hits).toHaveLength(5);
    expect(other.hits).toHaveLength(111);
    other.dispose();
  });

  it('goes to a hit that the window has without asking the server', async () => {
    await set('line 4999');
    const reads = server.asked.filter(({ type }) => type === 'read').length;
    search.next();
    await settle();
    expect(server.asked.filter(({ type }) => type === 'read')).toHaveLength(
      reads
    );
    expect(log.following).toBe(false);
  });

  it('escapes what is not meant as a regular expression', async () => {
    await set('a.b(');
    expect(search.expression?.test('a.b(')).toBe(true);
    const done = search.set({ ...query, pattern: '(?P<x>a)', regex: true });
    await settle();
    await done;
    expect(search.expression).toBeNull(); // Python's, which JavaScript refuses
  });
});
