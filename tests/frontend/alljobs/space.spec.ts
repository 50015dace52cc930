/** The dialog before records are removed. */
import { nullTranslator } from '@jupyterlab/translation';
import { consequencesOf } from '../../../src/alljobs/space/page';
import { KeptJob } from '../../../src/api/types';

const trans = nullTranslator.load('');

const kept = (name: string, deleted: boolean): KeptJob => ({
  ...{ id: `local::${name}:u`, name, engine: 'local', phase: 'Succeeded' },
  ...{ created_at: 10, ended_at: 20, deleted, removable: true, size: 4000 },
  sizes: { record: 1000, logs: 3000, samples: 0, stacks: 0 }
});

const lost = (jobs: KeptJob[]): string[] =>
  consequencesOf(jobs, trans)
    .filter(({ kind }) => kind === 'lost')
    .map(({ text }) => text);

it('says that jobs leave the list with their records, unless they are deleted already', () => {
  const records = 'Records, logs, samples and stacks, 8.0 kB.';
  expect(lost([kept('a', true), kept('b', true)])).toEqual([records]);
  expect(lost([kept('a', true), kept('b', false)])).toEqual([
    records,
    'The job and its place in the list.'
  ]);
  expect(lost([kept('a', false), kept('b', false)])).toEqual([
    records,
    'The jobs and their places in the list.'
  ]);
});
