import { nullTranslator } from '@jupyterlab/translation';
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import * as React from 'react';
import { ApiClient } from '../../../src/api/client';
import { NodeCapacity, NodeList, Subscribe } from '../../../src/api/types';
import { NodesView } from '../../../src/cluster/view/NodesView';
import { Jobs } from '../../../src/jobs/model/jobs';
import { NodesModel } from '../../../src/cluster/model/nodes';
import {
  GIB,
  Shown,
  someAmount,
  someCapacity,
  someNode
} from '../capacityFakes';
import { someCluster } from '../fakeJob';
import { FakeServer, delta, json, snapshot } from '../fakes';

const trans = nullTranslator.load('');

describe('the nodes of the cluster', () => {
  let server: FakeServer;
  let jobs: Jobs;
  let model: NodesModel;
  let shown: Shown;
  let nodes: NodeCapacity[];
  let answer: () => Response;

  const listed = (changes: Partial<NodeList> = {}): Response =>
    json({
      time: Date.now() / 1000,
      nodes,
      counting: false,
      limited: null,
      ...changes
    });

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask'] });
    shown = new Shown();
    server = new FakeServer();
    answer = listed;
    server.answer = ({ url }) =>
      url.includes('/cluster/nodes') ? answer() : json({ engines: [] });
    jobs = new Jobs(new ApiClient(server.settings()));
    model = new NodesModel(jobs);
    nodes = [
      someNode('node-10'),
      someNode('node-2', {
        product: 'NVIDIA-H100-80GB-HBM3',
        amounts: [
          someAmount('cpu', 64, 60),
          someAmount('memory', 512 * GIB, 0),
          someAmount('nvidia.com/gpu', 8, 5, { unhealthy: 1, free: 2 })
        ],
        taints: [{ key: 'gpu', value: 'reserved', effect: 'NoSchedule' }]
      }),
      someNode('node-3', {
        ready: false,
        cordoned: true,
        amounts: [
          someAmount('cpu', 64, 0, { free: 0 }),
          someAmount('memory', 512 * GIB, 0, { free: 0 }),
          someAmount('nvidia.com/gpu', 8, 0, { free: 0 })
        ],
        pods: 0
      })
    ];
  });

  afterEach(() => {
    model.dispose();
    jobs.dispose();
    jest.useRealTimers();
  });

  const pass = (ms: number): Promise<void> =>
    act(async () => {
      await jest.advanceTimersByTimeAsync(ms);
    });
  const show = async (): Promise<void> => {
    render(<NodesView model={model} trans={trans} />);
    server.socket.open();
    server.socket.push(
      snapshot({ engines: [someCluster()], capacity: someCapacity() })
    );
    await pass(100);
  };
  const rows = (): HTMLElement[] => screen.getAllByRole('row').slice(1);
  const names = (): (string | null)[] =>
    rows().map(row => within(row).getAllByRole('gridcell')[0].textContent);
  const asked = (): number =>
    server.requests.filter(({ url }) => url.includes('/cluster/nodes')).length;
  const said = (): string | null => screen.getByRole('status').textContent;
  const filter = (text: string): void => {
    fireEvent.change(screen.getByRole('searchbox'), {
      target: { value: text }
    });
  };

  it('tells of each what it has, and sums it up', async () => {
    await show();
    expect(names()).toEqual(['node-2', 'node-3', 'node-10']);
    expect(rows().map(({ textContent }) => textContent)).toEqual([
      'node-2Ready1 taintH100 80 GB2 of 814 of 64512 GiB of 512 GiB12',
      'node-3Not ready, CordonedA100 80 GB0 of 80 of 640 B of 512 GiB0',
      'node-10ReadyA100 80 GB2 of 832 of 64256 GiB of 512 GiB12'
    ]);
    expect(
      screen.getByText(
        '3 nodes · GPUs: 4 of 24 free, 1 broken · CPU: 36 of 192 free · Memory: 768 GiB of 1.5 TiB free · 24 pods'
      )
    ).toBeTruthy();
    expect(screen.getByTitle(/tolerate gpu=reserved:NoSchedule/)).toBeTruthy();
    expect(screen.getByTitle(/cordoned/)).toBeTruthy();
    expect(
      screen.getAllByTitle(/nvidia.com\/gpu: 2 of 8 free Your jobs use 4/)
    ).toHaveLength(2);
  });

  it('sums up accelerators by whose they are', async () => {
    const amounts = [someAmount('cpu', 4), someAmount('amd.com/gpu', 8, 1)];
    nodes = [nodes[0], someNode('b', { amounts })];
    await show();
    expect(
      screen.getByText(/· NVIDIA GPU: 2 of 8 free · AMD GPU: 7 of 8 free ·/)
    ).toBeTruthy();
  });

  it('is filtered by words and by kind', async () => {
    await show();
    filter('h100');
    expect(names()).toEqual(['node-2']);
    expect(screen.getByText(/^1 of 3 nodes · /)).toBeTruthy();
    filter('');
    fireEvent.click(screen.getByRole('radio', { name: 'With problems 2' }));
    expect(names()).toEqual(['node-2', 'node-3']);
    fireEvent.click(screen.getByRole('radio', { name: 'With free GPUs 2' }));
    expect(names()).toEqual(['node-2', 'node-10']);
    filter('no such');
    expect(screen.getByText('No node matches “no such”.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Show all nodes' }));
    expect(names()).toHaveLength(3);
    filter('cordoned');
    expect(names()).toEqual(['node-3']);
    fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'Escape' });
    expect(names()).toHaveLength(3);
  });

  it('is sorted by what is clicked, and stays in order under the pointer', async () => {
    await show();
    fireEvent.click(screen.getByRole('button', { name: 'CPU free' }));
    expect(names()).toEqual(['node-3', 'node-2', 'node-10']);
    fireEvent.click(screen.getByRole('button', { name: 'CPU free' }));
    expect(names()).toEqual(['node-10', 'node-2', 'node-3']);
    const head = screen.getByRole('columnheader', { name: 'CPU free' });
    expect(head.getAttribute('aria-sort')).toBe('descending');
    expect(model.view).toMatchObject({ sort: 'cpu', down: true });

    const body = screen.getAllByRole('rowgroup')[1];
    fireEvent.pointerEnter(body);
    nodes = [
      ...nodes.slice(0, 2),
      someNode('node-3', { amounts: [someAmount('cpu', 640)] }),
      someNode('node-0', { amounts: [someAmount('cpu', 999)] })
    ];
    await pass(10_000);
    expect(names()).toEqual(['node-10', 'node-2', 'node-3', 'node-0']);
    fireEvent.pointerLeave(body);
    expect(names()).toEqual(['node-0', 'node-3', 'node-10', 'node-2']);
  });

  it('is put in order at once when the filter changes, also under the pointer', async () => {
    await show();
    filter('node-10');
    fireEvent.pointerEnter(screen.getAllByRole('rowgroup')[1]);
    filter('');
    expect(names()).toEqual(['node-2', 'node-3', 'node-10']);
  });

  it('keeps the columns whatever is filtered, and that by which it is sorted', async () => {
    await show();
    const broken = screen.getByRole('button', { name: 'Broken' });
    fireEvent.click(broken);
    fireEvent.click(broken);
    expect(names()[0]).toBe('node-2');
    act(() => broken.focus());
    filter('node-10');
    expect(document.activeElement).toBe(broken);
    const sorted = (name: string): string | null =>
      screen.getByRole('columnheader', { name }).getAttribute('aria-sort');
    expect(sorted('Broken')).toBe('descending');
    filter('');
    nodes = [nodes[0], nodes[2]];
    await pass(10_000);
    expect(names()).toHaveLength(2);
    expect(document.activeElement).toBe(broken);
    expect(sorted('Broken')).toBe('descending');
    fireEvent.click(screen.getByRole('button', { name: 'Name' }));
    expect(screen.queryByRole('columnheader', { name: 'Broken' })).toBeNull();
  });

  it('is held still by the focus on a row, not by that on the head', async () => {
    await show();
    act(() => screen.getByRole('button', { name: 'Name' }).focus());
    nodes = [...nodes, someNode('node-0')];
    await pass(10_000);
    expect(names()).toEqual(['node-0', 'node-2', 'node-3', 'node-10']);
    act(() => rows()[0].querySelector('td')?.focus());
    nodes = [...nodes, someNode('node-1')];
    await pass(10_000);
    expect(names().at(-1)).toBe('node-1');
    act(() => screen.getByRole('searchbox').focus());
    expect(names()[1]).toBe('node-1');
  });

  describe('many', () => {
    let scroller: HTMLElement;
    let resized: () => void;
    const height = jest.fn(() => 580);

    beforeEach(async () => {
      height.mockReturnValue(580);
      const { ResizeObserver } = window;
      window.ResizeObserver = class {
        constructor(call: () => void) {
          resized = () => act(call);
        }
        observe(): void {
          // it is called by the test
        }
        disconnect(): void {
          // it has nothing
        }
      } as unknown as typeof ResizeObserver;
      nodes = Array.from({ length: 1500 }, (_, i) => someNode(`node-${i}`));
      await show();
      window.ResizeObserver = ResizeObserver;
      scroller = grid().parentElement as HTMLElement;
      Object.defineProperty(scroller, 'clientHeight', { get: height });
    });

    const grid = (): HTMLElement =>
      document.querySelector('[role="grid"]') as HTMLElement; // by its role takes seconds
    const scroll = (row: number): void => {
      scroller.scrollTop = row * 29;
      fireEvent.scroll(scroller);
    };
    const key = (name: string): void => {
      fireEvent.keyDown(document.activeElement as Element, { key: name });
    };
    const shownNames = (): (string | null)[] =>
      [
        ...grid().querySelectorAll('tbody tr:not([aria-hidden]) td:first-child')
      ].map(({ textContent }) => textContent);

    it('have one row in the document for each that is seen, and some more', () => {
      expect(grid().getAttribute('aria-rowcount')).toBe('1501');
      expect(grid().querySelector('thead tr[aria-rowindex="1"]')).toBeTruthy();
      expect(shownNames().length).toBeLessThan(150);
      expect(screen.getByText(/^1 500 nodes · /)).toBeTruthy();
    });

    it('can be reached by keys after the row that had the focus was scrolled away', async () => {
      act(() => grid().focus());
      expect(document.activeElement?.textContent).toBe('node-0');
      expect(grid().tabIndex).toBe(-1);
      scroll(500);
      expect(shownNames()).not.toContain('node-0');
      expect(grid().tabIndex).toBe(0);
      // And they are in order again.
      nodes = [someNode('node-499.5'), ...nodes];
      await pass(10_000);
      for (let frame = 0; frame < 5; frame++) {
        await pass(20); // the rows above come in further frames
      }
      expect(shownNames().indexOf('node-499.5')).toBeGreaterThan(0);
    });

    it('are passed by the page, never past those in the document', () => {
      act(() => grid().focus());
      key('PageDown');
      expect(document.activeElement?.textContent).toBe('node-15');
      key('PageUp');
      key('PageUp');
      expect(document.activeElement?.textContent).toBe('node-0');
      act(() =>
        grid()
          .querySelector<HTMLElement>('tbody tr:nth-last-child(2) td')
          ?.focus()
      );
      const last = document.activeElement;
      key('PageDown');
      expect(document.activeElement).toBe(last);
    });

    it('stay where they are while the tab is behind another', () => {
      scroll(500);
      expect(shownNames()).toContain('node-505');
      const { scrollTop } = scroller;
      // A hidden tab has no height, and says that it is at the top.
      height.mockReturnValue(0);
      scroller.scrollTop = 0;
      resized();
      act(() => shown.set(false));
      expect(shownNames()).toContain('node-505');
      height.mockReturnValue(580);
      scroller.scrollTop = scrollTop;
      act(() => shown.set(true));
      resized();
      expect(scroller.scrollTop).toBe(scrollTop);
      expect(shownNames()).toContain('node-505');
    });

    it('are entered at the first that is seen', () => {
      scroll(500);
      const rect = jest
        .spyOn(HTMLElement.prototype, 'getBoundingClientRect')
        .mockImplementation(function (this: HTMLElement) {
          const row = this.closest<HTMLElement>('tbody tr');
          const index = Number(row?.getAttribute('aria-rowindex')) - 2;
          const top = row ? 29 + 29 * index - scroller.scrollTop : 0;
          return { top, bottom: top + 29, height: 29 } as DOMRect;
        });
      try {
        act(() => grid().focus());
        expect(document.activeElement?.textContent).toBe('node-500');
      } finally {
        rect.mockRestore();
      }
    });
  });

  it('is one tab stop, from cell to cell by arrows', async () => {
    await show();
    const grid = screen.getByRole('grid', { name: 'Nodes' });
    expect(grid.tabIndex).toBe(0);
    act(() => grid.focus());
    const key = (name: string): void => {
      fireEvent.keyDown(document.activeElement as Element, { key: name });
    };
    expect(document.activeElement?.textContent).toBe('node-2');
    key('ArrowDown');
    key('ArrowRight');
    expect(document.activeElement?.textContent).toBe('Not ready, Cordoned');
    key('End');
    expect(document.activeElement?.textContent).toBe('0');
    key('Home');
    key('ArrowUp');
    key('ArrowUp');
    expect(document.activeElement).toBe(
      screen.getByRole('button', { name: 'Name' })
    );
  });

  it('has no columns for what no node has', async () => {
    nodes = [someNode('a', { amounts: [someAmount('cpu', 4)], product: null })];
    await show();
    const heads = screen.getAllByRole('columnheader');
    expect(heads.map(({ textContent }) => textContent)).toEqual([
      'Name',
      'Status',
      'CPU free',
      'Memory free',
      'Pods'
    ]);
    expect(screen.queryByRole('radio', { name: /free/ })).toBeNull();
  });

  it('is read again when something changed, and now and then', async () => {
    await show();
    expect(asked()).toBe(1);
    await pass(3000);
    const push = (): void =>
      server.socket.push(delta({ capacity: someCapacity() }));
    push();
    await pass(100);
    expect(asked()).toBe(2);
    // No more often than a table can be read, but the last is not lost.
    push();
    await pass(100);
    push();
    await pass(100);
    expect(asked()).toBe(2);
    await pass(2000);
    expect(asked()).toBe(3);
    await pass(7000);
    expect(asked()).toBe(3);
    await pass(3000);
    expect(asked()).toBe(4);
  });

  it('asks nothing while it is not seen', async () => {
    await show();
    act(() => shown.set(false));
    await pass(60_000);
    expect(asked()).toBe(1);
    const { sent } = server.socket;
    expect((sent[sent.length - 1] as Subscribe).capacity).toBe(false);
    act(() => shown.set(true));
    await pass(100);
    expect(asked()).toBe(2);
  });

  it('asks nothing if it was hidden before there was an answer', async () => {
    render(<NodesView model={model} trans={trans} />);
    act(() => shown.set(false));
    server.socket.open();
    server.socket.push(snapshot({ engines: [someCluster()] }));
    await pass(60_000);
    expect(asked()).toBe(0);
  });

  it('says why there is nothing, and tries again', async () => {
    answer = () =>
      json({ message: 'The cluster does not answer.', hint: 'Wait.' }, 503);
    await show();
    expect(screen.getByText('The cluster does not answer.')).toBeTruthy();
    expect(screen.getByText('Wait.')).toBeTruthy();
    answer = listed;
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await pass(100);
    expect(names()).toHaveLength(3);
    // What is known stays, with its age.
    answer = () => json({ message: 'The cluster does not answer.' }, 503);
    await pass(10_000);
    expect(screen.getByText(/they are shown as of \d\d:\d\d\./)).toBeTruthy();
    expect(names()).toHaveLength(3);
  });

  it('says since when it knows nothing new', async () => {
    await show();
    await act(async () => {
      const stale = someCluster({
        stale_since: 1,
        stale_reason: 'It does not answer.'
      });
      server.socket.push(delta({ engines: [stale] }));
    });
    await pass(100);
    expect(
      screen.getByText(/cluster lost\. State as of \d\d:\d\d/)
    ).toBeTruthy();
    expect(screen.getByText(/It does not answer/)).toBeTruthy();
    expect(names()).toHaveLength(3);
  });

  it('says why it may not know', async () => {
    const limited = 'This account may not list nodes.';
    answer = () => listed({ nodes: [], limited });
    await show();
    expect(screen.getByText('No nodes to show')).toBeTruthy();
    expect(screen.getByText(limited)).toBeTruthy();
    expect(
      screen.getByText(
        'Used by your jobs · GPUs: 24 · CPU: 32 · Memory: 256 GiB'
      )
    ).toBeTruthy();
    const quotas = screen.getByRole('table', { name: 'Quotas' });
    expect(within(quotas).getAllByRole('row')[1].textContent).toBe(
      'demogpusrequests.nvidia.com/gpu8 of 32'
    );
  });

  it('says that one’s jobs hold nothing only where that is known', async () => {
    answer = () => listed({ nodes: [], limited: 'No nodes.' });
    await show();
    for (const [mine, said] of [
      [{}, 'Your jobs use nothing.'],
      [null, 'The usage of your jobs is not known.']
    ] as const) {
      server.socket.push(delta({ capacity: someCapacity({ mine }) }));
      await pass(3000);
      expect(screen.getByText(said)).toBeTruthy();
    }
  });

  it('says that there is none, or that it reads', async () => {
    answer = () => listed({ nodes: [] });
    await show();
    expect(screen.getByText('The cluster has no nodes')).toBeTruthy();
  });

  it('says that there is no cluster', async () => {
    render(<NodesView model={model} trans={trans} />);
    await pass(1000);
    expect(said()).toBe('Detecting the cluster…');
    const cluster = someCluster();
    const reason = 'There is no kubeconfig.';
    server.socket.open();
    server.socket.push(
      snapshot({
        engines: [{ ...cluster, cluster: null, available: false, reason }]
      })
    );
    await pass(1000);
    expect(said()).toBe(`There is no cluster that jobs can run on${reason}`);
    expect(asked()).toBe(0);
  });

  it('says that the cluster is looked for, and that it is counted', async () => {
    const found = someCluster();
    const reason = 'The cluster is being looked for.';
    const sought = { cluster: null, available: false, looking: true, reason };
    render(<NodesView model={model} trans={trans} />);
    server.socket.open();
    server.socket.push(snapshot({ engines: [{ ...found, ...sought }] }));
    await pass(1000);
    expect(said()).toBe('Detecting the cluster…');
    expect(asked()).toBe(0);

    const limited = 'The cluster’s nodes are not known yet.';
    answer = () => listed({ nodes: [], counting: true, limited });
    server.socket.push(delta({ engines: [found] }));
    await pass(500);
    expect(asked()).toBe(1);
    expect(said()).toBe('Reading the free capacity of each node…');
    answer = listed;
    server.socket.push(delta({ capacity: someCapacity() }));
    await pass(2000);
    expect(names()).toHaveLength(3);

    answer = () => listed({ nodes: [], counting: true, limited });
    const cluster = found.cluster && {
      ...found.cluster,
      server: 'another:6443'
    };
    server.socket.push(delta({ engines: [{ ...found, cluster }] }));
    await pass(2000);
    await pass(500);
    expect(said()).toBe('Reading the free capacity of each node…');
  });

  it('has it read out that the cluster has gone', async () => {
    await show();
    const cluster = { cluster: null, available: false, reason: 'It has gone.' };
    server.socket.push(delta({ engines: [{ ...someCluster(), ...cluster }] }));
    await pass(100);
    // The region first: what comes into it later is read out.
    expect(said()).toBe('');
    await pass(500);
    expect(said()).toMatch(/^There is no cluster .*It has gone\.$/);
  });
});
