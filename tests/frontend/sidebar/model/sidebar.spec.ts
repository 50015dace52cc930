import { nullTranslator } from '@jupyterlab/translation';
import { JobSummary, Progress, Reason } from '../../../../src/api/types';
import {
  heightOf,
  Item,
  itemsOf,
  keepOrder,
  keyOf,
  matches,
  mayWrap,
  ISections,
  sectionsOf,
  sweepOfKey,
  sweepText
} from '../../../../src/sidebar/model/sidebar';
import { offsetsOf, windowOf } from '../../../../src/common/grid/windowing';
import { someJob } from '../../fakes';

const trans = nullTranslator.load('');
const reason = (sentence: string): Reason => ({
  code: 'X',
  sentence,
  hint: null,
  fix: null,
  verbatim: null,
  links: []
});
const ended = (name: string, ended_at: number): JobSummary =>
  someJob({ name, phase: 'Succeeded', ended_at });
const names = (sections: ISections): string[][] => [
  sections.active.map(job => job.name),
  sections.finished.map(job => job.name)
];

describe('sections', () => {
  it('part active jobs from finished ones, the last to end first', () => {
    const sections = sectionsOf([
      someJob({ name: 'new' }),
      ended('a', 5),
      someJob({ name: 'old', phase: 'Paused' }),
      ended('b', 9)
    ]);
    expect(names(sections)).toEqual([
      ['new', 'old'],
      ['b', 'a']
    ]);
  });

  it('keep everything in its place under a pointer', () => {
    const before = sectionsOf([
      someJob({ name: 'one' }),
      someJob({ name: 'two' }),
      ended('old', 5),
      ended('gone', 4)
    ]);
    const now = sectionsOf([
      someJob({ name: 'three' }),
      someJob({ name: 'one' }),
      ended('two', 9),
      ended('old', 5)
    ]);
    const kept = keepOrder(before, now);
    expect(names(kept)).toEqual([['three', 'one', 'two'], ['old']]);
    expect(kept.active[2].phase).toBe('Succeeded');
  });

  it('fold to their titles', () => {
    const sections = sectionsOf([someJob({ name: 'one' }), ended('two', 1)]);
    expect(itemsOf(sections, new Set(['active'])).map(keyOf)).toEqual([
      'active',
      'finished',
      'local::two:u1'
    ]);
  });
});

describe('the filter', () => {
  const job = someJob({
    name: 'llama3-8b',
    phase: 'Failed',
    reason: reason('Rank 3 was killed: out of memory')
  });

  it.each(['llama', 'FAILED', 'rank memory', ''])('finds “%s”', filter => {
    expect(matches(job, filter, trans)).toBe(true);
  });

  it.each(['bert', 'llama running'])('does not find “%s”', filter => {
    expect(matches(job, filter, trans)).toBe(false);
  });
});

describe('heights', () => {
  const progress: Progress = {
    text: 'Epoch 1 of 2',
    fraction: 0.5,
    rate: null,
    eta_seconds: null,
    metrics: {},
    updated_at: 1
  };
  const row = (changes: Partial<JobSummary>): Item => ({
    kind: 'job',
    section: 'active',
    level: 2,
    position: 1,
    count: 1,
    job: someJob(changes)
  });
  const wraps = mayWrap;

  it.each<[string, Item, number]>([
    ['two lines', row({}), 50],
    ['a bar', row({ progress }), 59],
    ['a reason that wraps', row({ phase: 'Pending' }), 68],
    ['a sentence that does not wrap', row({ phase: 'Resuming' }), 50],
    ['no bar after the end', row({ phase: 'Succeeded', progress }), 50]
  ])('with %s', (_, item, height) => {
    expect(heightOf(item, wraps)).toBe(height);
  });

  it('put only what is seen, and some more, into the DOM', () => {
    const offsets = offsetsOf(Array.from({ length: 10_000 }, () => 50));
    expect(offsets[10_000]).toBe(500_000);
    expect(windowOf(offsets, 250_000, 600)).toEqual([4990, 5023]);
    expect(windowOf(offsets, 0, 600)).toEqual([0, 23]);
    expect(windowOf(offsets, 499_400, 600)).toEqual([9978, 10_000]);
  });
});

const member = (
  number: number,
  phase: JobSummary['phase'],
  changes: Partial<JobSummary> = {}
): JobSummary =>
  someJob({
    id: `s-${number}`,
    phase,
    sweep: {
      id: 'abc',
      name: 'lr',
      number,
      round: 0,
      at_a_time: 1,
      on_failure: 'continue',
      rule: null,
      values: {}
    },
    ...changes
  });
const keysOf = (sections: ISections, folded: string[] = []): string[] =>
  itemsOf(sections, new Set(folded)).map(keyOf);

it('keeps the jobs of a sweep together, below its title and in the order of their numbers', () => {
  const jobs = [
    someJob({ id: 'alone', phase: 'Running' }),
    member(2, 'Running'),
    member(1, 'Failed'),
    someJob({ id: 'old', phase: 'Succeeded', ended_at: 1 })
  ];
  const sections = sectionsOf(jobs);
  expect(keysOf(sections)).toEqual([
    ...['active', 'alone', 'sweep:abc', 's-1', 's-2'],
    ...['finished', 'old']
  ]);
  expect(keysOf(sections, ['sweep:abc'])).toEqual([
    ...['active', 'alone', 'sweep:abc', 'finished', 'old']
  ]);
  expect(sweepText([jobs[2], jobs[1]], trans)).toBe(
    '2 jobs · 1 failed · 1 running'
  );
});

describe('a sweep whose failed job is retried while the rows are held', () => {
  const alone = someJob({ id: 'alone', phase: 'Running' });
  const ended = [member(1, 'Succeeded'), member(2, 'Failed')];
  const before = sectionsOf([alone, ...ended]);
  const retry = (phase: JobSummary['phase']): JobSummary =>
    member(2, phase, { id: 's-2b', created_at: 2000 });
  const inActive = [
    ...['active', 'sweep:abc', 's-1', 's-2', 's-2b', 'alone'],
    ...['finished']
  ];

  it('is once in the list, among the active jobs', () => {
    const now = sectionsOf([retry('Running'), alone, ...ended]);
    expect(keysOf(keepOrder(before, now))).toEqual(inActive);
  });

  it('stays there, still once, when the retried job ends', () => {
    const running = sectionsOf([retry('Running'), alone, ...ended]);
    const held = keepOrder(before, running);
    const now = sectionsOf([retry('Failed'), alone, ...ended]);
    expect(keysOf(keepOrder(held, now))).toEqual(inActive);
  });
});

it('has different keys for the titles of a sweep’s jobs and of its deleted jobs', () => {
  const sections = sectionsOf(
    [member(1, 'Succeeded')],
    [member(2, 'Failed', { deleted: true })]
  );
  const keys = keysOf(sections);
  expect(new Set(keys).size).toBe(keys.length);
  const titles = keys.filter(key => sweepOfKey(key) !== null);
  expect(titles.map(sweepOfKey)).toEqual(['abc', 'abc']);
  expect(sweepOfKey('local::sweep:u1')).toBeNull();
  expect(keysOf(sections, [titles[1]])).toEqual([
    ...['active', 'finished', titles[0], 's-1', 'deleted', titles[1]]
  ]);
});

it('names the failed jobs of a sweep first, since a narrow row is cut', () => {
  const jobs = [
    ...[member(1, 'Succeeded'), member(2, 'Succeeded')],
    ...[member(3, 'Running'), member(4, 'Failed')]
  ];
  expect(sweepText(jobs, trans)).toBe(
    '4 jobs · 1 failed · 1 running · 2 succeeded'
  );
});
