import { nullTranslator } from '@jupyterlab/translation';
import { act, fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { Replica } from '../../../../src/api/types';
import { Replicas } from '../../../../src/job/replicas/Replicas';
import { somePod, someReason, someReplica } from '../../fakeJob';

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
      <Replicas
        replicas={thousand}
        hasPods={false}
        trans={trans}
        showLog={() => undefined}
        terminals={null}
        searchTerminals={jest.fn()}
        openTerminal={() => undefined}
      />
    );
  });

  it('has only a window of a thousand in the document, and says how many there are', () => {
    expect(names().length).toBeLessThan(130);
    expect(names()[0]).toBe('worker-0');
    const grid = screen.getByRole('grid');
    expect(grid.getAttribute('aria-rowcount')).toBe('1001');

    const scroller = grid.parentElement as HTMLElement;
    Object.defineProperty(scroller, 'clientHeight', { value: 580 });
    act(() => grid.focus());
    expect(grid.tabIndex).toBe(-1);
    scroller.scrollTop = 500 * 29;
    fireEvent.scroll(scroller);
    expect(names()).toContain('worker-500');
    expect(names()).not.toContain('worker-0');
    expect(names().length).toBeLessThan(130);
    const row = screen.getByText('worker-500').closest('tr');
    expect(row?.getAttribute('aria-rowindex')).toBe('502');
    // The row that had the focus is not there any more.
    expect(grid.tabIndex).toBe(0);
  });

  it('sorts all of them', () => {
    fireEvent.click(screen.getByRole('button', { name: 'Replica' }));
    expect(names()[0]).toBe('worker-999');
  });
});

describe('Replicas of a cluster', () => {
  const pod = somePod({
    name: 'bert-worker-1',
    mounts: [
      {
        path: '/t9k/mnt',
        source: 'PVC t9k-mnt',
        sub_path: 'lin',
        read_only: true
      },
      { path: '/dev/shm', source: 'memory', sub_path: null, read_only: false }
    ]
  });
  const replicas = [
    someReplica({
      index: 0,
      pid: null,
      pod: somePod({ name: 'bert-worker-0' })
    }),
    someReplica({
      index: 1,
      pid: null,
      status: 'ImagePullBackOff',
      reason: {
        ...someReason('ImagePull', 'There is no image nope:1'),
        hint: 'See whether its name is right.',
        verbatim: 'rpc error: not found'
      },
      pod
    })
  ];
  const header = (): (string | null)[] =>
    screen.getAllByRole('columnheader').map(({ textContent }) => textContent);

  beforeEach(() => {
    render(
      <Replicas
        replicas={replicas}
        hasPods
        trans={trans}
        showLog={() => undefined}
        terminals={null}
        searchTerminals={jest.fn()}
        openTerminal={() => undefined}
      />
    );
  });

  it('has kubectl’s columns', () => {
    expect(header()).toEqual([
      'Replica',
      'Status',
      'Ranks',
      'Node',
      'GPUs',
      'Restarts',
      'IP',
      'Age',
      'Why',
      'Log',
      'Terminal'
    ]);
    const row = screen.getByText('ImagePullBackOff').closest('tr');
    expect(row?.textContent).toContain('There is no image nope:1');
  });

  it('opens a row to what its pod really is', () => {
    const opener = screen.getByRole('button', { name: 'worker-1' });
    expect(opener.getAttribute('aria-expanded')).toBe('false');
    fireEvent.click(opener);
    expect(opener.getAttribute('aria-expanded')).toBe('true');
    const detail = document.querySelector('[data-detail="worker-1"]');
    for (const text of [
      'See whether its name is right.',
      'rpc error: not found',
      'bert-worker-1',
      'test.local/torch:cpu',
      "torchrun --nproc_per_node=2 'my train.py'",
      '/t9k/mnt PVC t9k-mnt, folder lin, read-only',
      '/dev/shm memory',
      'Attempt 1'
    ]) {
      expect(detail?.textContent).toContain(text);
    }
    // By keys one passes through it, from any column.
    const status = screen.getByText('ImagePullBackOff').closest('td');
    act(() => status?.focus());
    fireEvent.keyDown(status as HTMLElement, { key: 'ArrowDown' });
    expect(detail?.contains(document.activeElement)).toBe(true);
    fireEvent.click(screen.getByText('ImagePullBackOff'));
    expect(opener.getAttribute('aria-expanded')).toBe('false');
    expect(document.querySelector('[data-detail]')).toBeNull();
  });
});
