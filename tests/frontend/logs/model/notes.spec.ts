import { LogLine } from '../../../../src/api/types';
import { logNotes } from '../../../../src/logs/model/notes';
import { chosenStreams, SHOW_ALL } from '../../../../src/logs/loading/streams';
import { someStream } from '../../fakeLog';

const pod = (changes = {}): ReturnType<typeof someStream> =>
  someStream(0, {
    id: 'worker-0.1.container.out',
    source: 'container',
    output: 'both',
    local_rank: null,
    rank: null,
    ...changes
  });

function lines(stream: string, offsets: number[], size = 10): LogLine[] {
  return offsets.map(offset => ({
    stream,
    offset,
    size,
    time: offset,
    text: 'text',
    updates: 1,
    partial: false,
    cut: false,
    removed: 0
  }));
}

const gap = (offset: number): { missing: object[] } => ({
  missing: [{ sentence: 'Lines are missing.', offset, since: 1, until: 2 }]
});

const whole = { atStart: true, atEnd: true };

describe('notes of a log', () => {
  it('stand before the line that comes next in its stream', () => {
    const stream = pod({ ...gap(20), size: 40 });
    const held = lines(stream.id, [0, 10, 20, 30]);
    const { before, after } = logNotes(held, [stream], whole);
    expect([...before.keys()]).toEqual([2]);
    expect(after.size).toBe(0);
    expect(before.get(2)?.[0]).toMatchObject({
      kind: 'missing',
      sentence: 'Lines are missing.',
      since: 1,
      until: 2
    });
  });

  it('stand behind the last line where nothing comes next', () => {
    const stream = pod({ ...gap(40), size: 40 });
    const held = [
      ...lines(stream.id, [20, 30]),
      ...lines('other', [0, 10, 20])
    ];
    const { before, after } = logNotes(held, [stream], whole);
    expect(before.size).toBe(0);
    expect([...after.keys()]).toEqual([1]);
  });

  it('are left out where their lines are not held', () => {
    const stream = pod({ ...gap(20), size: 400 });
    const held = lines(stream.id, [100, 110]);
    const { before, after } = logNotes(held, [stream], whole);
    expect(before.size + after.size).toBe(0);
  });

  it('stand at the start of the log for a stream of which nothing is there', () => {
    const empty = pod({ id: 'worker-1', replica: 'worker-1', ...gap(0) });
    const held = lines('other', [0, 10]);
    expect([...logNotes(held, [empty], whole).before.keys()]).toEqual([0]);
    const elsewhere = { atStart: false, atEnd: true };
    expect(logNotes(held, [empty], elsewhere).before.size).toBe(0);
  });

  it('say at the end of the log why a stream waits', () => {
    const stream = pod({ waiting: 'Its image can’t be pulled.' });
    const held = lines('other', [0, 10]);
    const { after } = logNotes(held, [stream], whole);
    expect(after.get(1)?.[0]).toMatchObject({
      kind: 'waiting',
      sentence: 'Its image can’t be pulled.'
    });
    const elsewhere = { atStart: true, atEnd: false };
    expect(logNotes(held, [stream], elsewhere).after.size).toBe(0);
  });
});

describe('what pods print', () => {
  const init = pod({
    id: 'worker-0.1.init-setup.out',
    source: 'init',
    container: 'setup'
  });
  const launcher = pod({
    id: 'worker-0.1.launcher.out',
    source: 'launcher'
  });
  const ids = (
    streams: ReturnType<typeof pod>[],
    filter = SHOW_ALL
  ): string[] => chosenStreams(streams, filter).map(({ id }) => id);

  it('is shown where ranks have no files', () => {
    expect(ids([init, pod()])).toEqual([init.id, pod().id]);
  });

  it('is never shown beside the files that have the same', () => {
    const streams = [init, pod(), launcher, someStream(0)];
    expect(ids(streams)).toEqual([init.id, someStream(0).id]);
    expect(ids(streams, { ...SHOW_ALL, launcher: true })).toEqual([
      init.id,
      launcher.id,
      someStream(0).id
    ]);
    const instead = { ...SHOW_ALL, container: true, launcher: true };
    expect(ids(streams, instead)).toEqual([init.id, pod().id]);
  });

  it('is chosen by attempt: where one has no files, its pods are shown', () => {
    const first = pod();
    const second = pod({ id: 'worker-0.2.container.out', attempt: 2 });
    const rank = someStream(0, { attempt: 2 });
    expect(ids([first, second, rank])).toEqual([first.id, rank.id]);
  });
});
