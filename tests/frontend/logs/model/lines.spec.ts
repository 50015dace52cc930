import { LogLine } from '../../../../src/api/types';
import { parseAnsi } from '../../../../src/logs/model/ansi';
import {
  attemptStarts,
  contentsPaths,
  ERROR_PATTERN,
  fileLinks,
  levelOf,
  pieces
} from '../../../../src/logs/model/lines';
import {
  chosenStreams,
  logSources,
  SHOW_ALL,
  showStream
} from '../../../../src/logs/loading/streams';
import { someStream } from '../../fakeLog';

describe('levelOf', () => {
  it.each([
    ['Traceback (most recent call last):', 'error'],
    ['[rank2]: ConnectionResetError: [Errno 104] reset', 'error'],
    ['json.decoder.JSONDecodeError: Expecting value', 'error'],
    ['KeyboardInterrupt', 'error'],
    ['E1121 10:39:34.020 failed (exitcode: 1)', 'error'],
    ['2026-11-21 ERROR no space', 'error'],
    ['W1121 10:39:33.518 torch/distributed/elastic] closing', 'warning'],
    ['UserWarning: This DataLoader will create 8 workers', 'warning'],
    ['epoch 1, mean squared error: 0.1', null],
    ['no errors found', null]
  ])('%s → %s', (text, level) => {
    expect(levelOf(text)).toBe(level);
  });

  it('searches with a pattern that JavaScript reads as well', () => {
    expect(new RegExp(ERROR_PATTERN).test('ValueError: boom')).toBe(true);
    expect(new RegExp(ERROR_PATTERN).test('  raise ValueError')).toBe(false);
  });
});

describe('file links', () => {
  const paths = contentsPaths({
    working_dir: '/home/lin/work/mnist',
    working_dir_path: 'work/mnist'
  });

  it('open what lies below the root of the lab', () => {
    const text =
      '[rank1]:   File "/home/lin/work/mnist/train.py", line 96, in f';
    const [link] = fileLinks(text, paths);
    expect(link).toMatchObject({ path: 'work/mnist/train.py', line: 96 });
    expect(text.slice(link.start, link.end)).toBe(
      '"/home/lin/work/mnist/train.py", line 96'
    );
  });

  it.each([
    ['train.py', 'work/mnist/train.py'],
    ['/home/lin/other.py', 'other.py'],
    ['/usr/lib/python3/json.py', null],
    ['/home/lin/work/../../../etc/passwd', null],
    ['<string>', null]
  ])('%s → %s', (file, path) => {
    expect(paths(file)).toBe(path);
  });

  it('work for a job that runs in the root itself', () => {
    const atRoot = contentsPaths({ working_dir: '/r', working_dir_path: '' });
    expect(atRoot('/r/a.py')).toBe('a.py');
  });

  it('are none where the working directory is out of the lab’s reach', () => {
    const outside = contentsPaths({
      working_dir: '/x',
      working_dir_path: null
    });
    expect(outside('/x/a.py')).toBeNull();
  });
});

describe('pieces', () => {
  it('cuts at styles, hits and links, and loses nothing', () => {
    const shown = parseAnsi('a \x1b[31mred needle\x1b[0m needle end');
    const links = [{ start: 0, end: 1, path: 'a', line: 1 }];
    const parts = pieces(shown, /needle/g, links);
    expect(parts.map(part => part.text).join('')).toBe(shown.text);
    expect(parts.filter(part => part.hit).map(part => part.text)).toEqual([
      'needle',
      'needle'
    ]);
    expect(parts.filter(part => part.hit)[0].style).toEqual({ foreground: 1 });
    expect(parts[0].link).toBe(links[0]);
  });

  it('survives an expression that matches nothing at all', () => {
    expect(pieces(parseAnsi('ab'), /x*/g, []).map(part => part.text)).toEqual([
      'ab'
    ]);
  });
});

describe('streams', () => {
  const streams = [
    someStream(1),
    someStream(0),
    someStream(0, { attempt: 2 }),
    someStream(0, {
      id: 'worker-0.1.launcher.out',
      source: 'launcher',
      local_rank: null,
      rank: null
    })
  ];

  it('come from ranks, in order, over all attempts', () => {
    expect(logSources(streams).map(source => source.label)).toEqual(['0', '1']);
  });

  it('are filtered; the launcher is folded at first', () => {
    expect(chosenStreams(streams, SHOW_ALL)).toHaveLength(3);
    const filter = {
      ...SHOW_ALL,
      attempt: 1,
      hidden: ['worker-0/1'],
      launcher: true
    };
    expect(chosenStreams(streams, filter).map(({ id }) => id)).toEqual([
      'worker-0.1.rank-0.out',
      'worker-0.1.launcher.out'
    ]);
  });

  it('are shown when something in them is to be seen', () => {
    const filter = { ...SHOW_ALL, attempt: 2, hidden: ['worker-0/1'] };
    for (const stream of streams) {
      const wider = showStream(filter, stream, streams);
      expect(chosenStreams(streams, wider)).toContain(stream);
    }
  });

  it('are divided where a later attempt begins, once for all replicas', () => {
    const other = { replica: 'worker-1', id: 'b1' };
    const all = [
      someStream(0, { id: 'a1' }),
      someStream(1, other),
      someStream(0, { id: 'a2', attempt: 2 }),
      someStream(1, { ...other, id: 'b2', attempt: 2 })
    ];
    const byId = new Map(all.map(stream => [stream.id, stream]));
    const lines = ['a1', 'b1', 'a2', 'a1', 'b2'].map(
      stream => ({ stream }) as LogLine
    );
    const places = (together: boolean): number[] => [
      ...attemptStarts(lines, byId, together).keys()
    ];
    expect(places(true)).toEqual([2]);
    expect(places(false)).toEqual([2, 4]);
  });
});
