/** The table of the use of resources. */
import { nullTranslator } from '@jupyterlab/translation';
import { render } from '@testing-library/react';
import * as React from 'react';
import { ResourceView } from '../../../../src/api/types';
import { ResourceTable } from '../../../../src/job/resources/ResourceTable';

const trans = nullTranslator.load('');
type Curve = ResourceView['rows'][number]['curves'][number];

/** Return the first cells of the table's rows, with its first headings. */
function firstCells(
  replicas: string[],
  curves: Pick<Curve, 'part' | 'replica' | 'number'>[]
): string[] {
  const view = {
    replicas,
    rows: [
      {
        metric: 'cpu',
        title: 'CPU',
        unit: 'cores',
        facts: [],
        levels: [],
        curves: curves.map(curve => ({
          ...curve,
          ...{ low: [1], mean: [2], high: [3] }
        }))
      }
    ]
  } as unknown as ResourceView;
  const { container } = render(<ResourceTable view={view} trans={trans} />);
  return [...container.querySelectorAll('tr')].map(row =>
    [...row.cells]
      .slice(0, 2)
      .map(({ textContent }) => textContent)
      .join('|')
  );
}

describe('the table of resources', () => {
  it('names a replica once', () => {
    const workers = ['worker-0', 'worker-1'];
    expect(
      firstCells(
        workers,
        workers.map(replica => ({ part: 'replica', replica, number: null }))
      )
    ).toEqual(['Metric|Part', 'CPU|worker-0', 'CPU|worker-1']);
  });

  it('names the replica of a rank where there are several', () => {
    const rank = { part: 'rank', replica: 'worker-1', number: 3 } as const;
    expect(firstCells(['worker-0', 'worker-1'], [rank])[1]).toBe(
      'CPU|worker-1, rank 3'
    );
    expect(firstCells(['worker-1'], [rank])[1]).toBe('CPU|rank 3');
  });

  it('calls the curve of the whole job a sum', () => {
    const sum = { part: 'job', replica: null, number: null } as const;
    expect(firstCells([], [sum])[1]).toBe('CPU|sum');
  });
});
