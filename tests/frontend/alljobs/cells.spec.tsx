/** Cells of the table of jobs. */
import { nullTranslator } from '@jupyterlab/translation';
import { render } from '@testing-library/react';
import * as React from 'react';
import { JobSummary } from '../../../src/api/types';
import { allColumns, IJobColumn } from '../../../src/alljobs/model/columns';
import { sortJobs } from '../../../src/alljobs/model/rows';
import { Cell, SweepCell } from '../../../src/alljobs/view/cells';
import { columnWidth } from '../../../src/alljobs/view/layout';
import { someJob } from '../fakes';

const trans = nullTranslator.load('');
function column(key: string): IJobColumn {
  const found = allColumns(['loss']).find(each => each.key === key);
  if (!found) {
    throw new Error(`no column ${key}`);
  }
  return found;
}

const ended = (changes: Partial<JobSummary>): JobSummary =>
  someJob({ phase: 'Succeeded', running_since: null, ...changes });

function textOf(job: JobSummary, key: string): string | null {
  const { container } = render(
    <Cell
      job={job}
      column={column(key)}
      engines={[]}
      hasNamespaces={false}
      trans={trans}
    />
  );
  return container.textContent;
}

describe('durations', () => {
  it('have the units of the other pages', () => {
    expect(textOf(ended({ ran_seconds: 43.4 }), 'duration')).toBe('43 s');
    expect(textOf(ended({ ran_seconds: 252 }), 'duration')).toBe('4 min 12 s');
    expect(textOf(ended({ ran_seconds: 8520 }), 'duration')).toBe('2 h 22 min');
    expect(textOf(ended({ started_at: null }), 'duration')).toBe('');
    const waited = ended({ created_at: 1000, started_at: 1018 });
    expect(textOf(waited, 'waited')).toBe('18 s');
  });

  it('are sorted as numbers', () => {
    const jobs = [43, 252, 8520].map(ran_seconds =>
      ended({ name: `${ran_seconds}`, ran_seconds })
    );
    const order = { key: 'duration', down: false };
    expect(
      sortJobs(jobs, column('duration'), order, 9000).map(({ name }) => name)
    ).toEqual(['43', '252', '8520']);
  });
});

it('leaves room for the best value of a sweep in the column of a short metric', () => {
  expect(columnWidth(column('m:loss'), 1300)).toBeGreaterThanOrEqual(110);
});

it('shows a sweep as failed if jobs of it failed, and counts these first', () => {
  const stateOf = (phases: JobSummary['phase'][]): (string | null)[] => {
    const { container } = render(
      <SweepCell
        jobs={phases.map(phase => someJob({ phase }))}
        column={column('state')}
        engines={[]}
        hasNamespaces={false}
        trans={trans}
      />
    );
    const icon = container.querySelector('[role="img"]');
    return [
      icon?.getAttribute('aria-label') ?? null,
      icon?.nextElementSibling?.textContent ?? null
    ];
  };
  expect(stateOf(['Succeeded', 'Failed', 'Succeeded'])).toEqual([
    'failed',
    '1 failed, 2 succeeded'
  ]);
  expect(stateOf(['Succeeded', 'Failed', 'Running'])).toEqual([
    'running',
    '1 failed, 1 running, 1 succeeded'
  ]);
  expect(stateOf(['Succeeded'])).toEqual(['succeeded', '1 succeeded']);
});

it('writes metrics with four digits', () => {
  const metric = (value: number): string | null =>
    textOf(
      ended({
        progress: {
          ...{ text: '', fraction: null, rate: null, eta_seconds: null },
          ...{ metrics: { loss: value }, updated_at: 1 }
        }
      }),
      'm:loss'
    );
  expect([0.0003, 0.12345, 12345.6].map(metric)).toEqual([
    '0.0003',
    '0.1235',
    '12346'
  ]);
});
