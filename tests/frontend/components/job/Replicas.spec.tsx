import { nullTranslator } from '@jupyterlab/translation';
import { fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { Replica } from '../../../../src/api/types';
import { Replicas } from '../../../../src/components/job/Replicas';
import { someReplica } from '../../fakeJob';

const trans = nullTranslator.load('');

// jsdom lays nothing out and has no observer of sizes.
class NoResizeObserver {
  observe(): void {
    // sizes never change here
  }
  disconnect(): void {
    // nothing to stop
  }
}
window.ResizeObserver ??= NoResizeObserver as unknown as typeof ResizeObserver;

const thousand = Array.from({ length: 1000 }, (_, index): Replica =>
  someReplica({ name: `worker-${index}`, index })
);
const names = (): (string | null)[] =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map(row => row.querySelector('td')?.textContent ?? null);

describe('Replicas', () => {
  beforeEach(() => {
    render(
      <Replicas replicas={thousand} trans={trans} showLog={() => undefined} />
    );
  });

  it('has only a window of a thousand in the document, and says how many there are', () => {
    expect(names().length).toBeLessThan(130);
    expect(names()[0]).toBe('worker-0');
    const grid = screen.getByRole('grid');
    expect(grid.getAttribute('aria-rowcount')).toBe('1001');

    const scroller = grid.parentElement as HTMLElement;
    scroller.scrollTop = 500 * 29;
    fireEvent.scroll(scroller);
    expect(names()).toContain('worker-500');
    expect(names()).not.toContain('worker-0');
    expect(names().length).toBeLessThan(130);
    const row = screen.getByText('worker-500').closest('tr');
    expect(row?.getAttribute('aria-rowindex')).toBe('502');
  });

  it('sorts all of them', () => {
    fireEvent.click(screen.getByRole('button', { name: 'Replica' }));
    expect(names()[0]).toBe('worker-999');
  });
});
