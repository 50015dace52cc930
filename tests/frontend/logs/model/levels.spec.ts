/** Lines of a level, the first error of each rank, and the address of a view. */
import {
  addressedLine,
  logAddress,
  showAddress
} from '../../../../src/logs/model/address';
import {
  FirstErrors,
  firstOfRanks
} from '../../../../src/logs/model/firstErrors';
import { LogModel } from '../../../../src/logs/model/log';
import { LogSearch } from '../../../../src/logs/model/search';
import { LogSession } from '../../../../src/logs/loading/session';
import { SHOW_ALL } from '../../../../src/logs/loading/streams';
import { FakeLog, someStream } from '../../fakeLog';

const error = (
  stream: string,
  time: number | null
): {
  stream: string;
  offset: number;
  time: number | null;
  text: string;
  traceback: boolean;
} => ({ stream, offset: 7, time, text: 'ValueError: bad', traceback: false });

async function opened(): Promise<{
  fake: FakeLog;
  log: LogModel;
  search: LogSearch;
}> {
  const fake = new FakeLog();
  fake.streams = [0, 1, 2, 3].map(rank => someStream(rank));
  fake.streams.forEach(stream =>
    fake.write(stream, ['step 1', 'ValueError: bad'])
  );
  const log = new LogModel(new LogSession(fake));
  fake.connect();
  await fake.flush();
  return { fake, log, search: new LogSearch(log) };
}

describe('the level', () => {
  it('is part of all requests, and a line without it is shown by leaving it', async () => {
    const { fake, log } = await opened();
    fake.shows = line => line.text.includes('Error');
    log.setFilter({ ...SHOW_ALL, level: 'error' });
    await fake.flush();
    expect(log.window.lines).toHaveLength(4);
    expect(fake.asked.filter(({ type }) => type === 'follow').pop()).toEqual(
      expect.objectContaining({ level: 'error' })
    );
    log.mark(fake.streams[2].id, 0);
    await fake.flush();
    expect(log.filter.level).toBeNull();
    expect(log.window.lines).toHaveLength(8);
    log.dispose();
  });

  it('is searched on, request by request, until a line is found', async () => {
    const { fake, log } = await opened();
    fake.shows = line => line.text.includes('Error');
    fake.most = 1;
    log.setFilter({ ...SHOW_ALL, level: 'error', hidden: [] });
    log.go({ at: 'start' });
    await fake.flush();
    expect(log.window.lines[0].text).toBe('ValueError: bad');
    expect(log.window.atStart).toBe(true);
    log.dispose();
  });
});

describe('the first errors', () => {
  it('are one for each rank, the earliest first', () => {
    const streams = [
      someStream(0),
      someStream(1),
      someStream(1, { id: 'err', output: 'stderr' }),
      someStream(0, { id: 'launcher', source: 'launcher' })
    ];
    const found = firstOfRanks(
      {
        errors: [
          error(streams[0].id, 9),
          error(streams[1].id, 8),
          error('err', 3),
          error('launcher', null),
          error('gone', 1)
        ]
      },
      streams
    );
    expect(found.map(({ label, stream }) => [label, stream])).toEqual([
      ['1', 'err'],
      ['0', streams[0].id],
      ['', 'launcher']
    ]);
  });

  it('are asked for until the whole log was searched', async () => {
    const { fake, log } = await opened();
    fake.errors = [
      { errors: [], searched: 10, size: 100, complete: false },
      {
        errors: [error(fake.streams[3].id, 5)],
        searched: 100,
        size: 100,
        complete: true
      }
    ];
    const errors = new FirstErrors(log);
    const found = errors.find();
    await fake.flush();
    await found;
    expect(errors.errors.map(({ label }) => label)).toEqual(['3']);
    expect([errors.progress, errors.pending, errors.error]).toEqual([
      1,
      false,
      null
    ]);
    const lost = errors.find();
    fake.break();
    await lost;
    expect(errors.error).toBe('');
    log.dispose();
  });
});

describe('an address', () => {
  it('restores filter and search, with the shorter list of ranks', async () => {
    const { fake, log, search } = await opened();
    const filter = {
      ...SHOW_ALL,
      hidden: ['worker-0/0', 'worker-0/1', 'worker-0/3'],
      level: 'warning' as const,
      attempt: 1
    };
    log.setFilter(filter);
    await fake.flush();
    void search.set({ pattern: 'a&b', regex: true, caseSensitive: false });
    await fake.flush();
    const address = logAddress(log, search);
    expect(address).toContain('only=worker-0%2F2');
    const other = await opened();
    showAddress(address, other.log, other.search);
    await other.fake.flush();
    expect(other.log.filter).toEqual(filter);
    expect(other.search.query).toEqual({
      pattern: 'a&b',
      regex: true,
      caseSensitive: false
    });
    expect(addressedLine(other.log)).toBeNull();
    other.log.mark(other.fake.streams[2].id, 7);
    expect(addressedLine(other.log)).toEqual({
      stream: other.fake.streams[2].id,
      offset: 7
    });
    // A mark that the filter hides is not part of the view.
    other.log.setFilter({ ...SHOW_ALL, hidden: ['worker-0/2'] });
    await other.fake.flush();
    expect(addressedLine(other.log)?.offset).not.toBe(7);
    log.dispose();
    other.log.dispose();
  });

  it('with invalid parts shows all', async () => {
    const { log, search } = await opened();
    showAddress('attempt=-1&level=debug&hidden=x&only=y', log, search);
    expect(log.filter).toEqual(SHOW_ALL);
    expect(search.query.pattern).toBe('');
    log.dispose();
  });
});
