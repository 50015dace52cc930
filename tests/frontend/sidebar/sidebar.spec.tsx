import { nullTranslator } from '@jupyterlab/translation';
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import * as React from 'react';
import { ApiClient } from '../../../src/api/client';
import {
  Delta,
  Capacity,
  EngineInfo,
  Machine,
  Snapshot,
  Subscribe
} from '../../../src/api/types';
import { Monitor } from '../../../src/sidebar/view/Monitor';
import { Jobs } from '../../../src/jobs/model/jobs';
import { CommandIDs } from '../../../src/tokens';
import { MonitorModel } from '../../../src/sidebar/widget';
import {
  Shown,
  someAmount,
  someCapacity,
  somePool,
  someQuota
} from '../capacityFakes';
import { SOME_FACTS, someCluster } from '../fakeJob';
import {
  FakeServer,
  delta,
  json,
  snapshot,
  someJob,
  someReason,
  someTensorBoard
} from '../fakes';

const trans = nullTranslator.load('');

const engine: EngineInfo = {
  name: 'local',
  label: 'This machine',
  facts: SOME_FACTS.local,
  available: true,
  lacks: [],
  reason: null,
  looking: false,
  namespaces: [''],
  default_namespace: '',
  capabilities: {},
  grace_seconds: 10,
  cluster: null,
  machine: {
    hostname: 'lab',
    cpus: 8,
    memory_total: 16 * 2 ** 30,
    memory_available: 12 * 2 ** 30,
    devices: [],
    devices_problem: null
  }
};

describe('the sidebar', () => {
  let server: FakeServer;
  let jobs: Jobs;
  let model: MonitorModel;
  let shown: Shown;
  const run = jest.fn();
  const openMenu = jest.fn();

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask'] });
    shown = new Shown();
    run.mockClear();
    openMenu.mockClear();
    server = new FakeServer();
    server.answer = () => json({ engines: [] });
    jobs = new Jobs(new ApiClient(server.settings()));
    model = new MonitorModel();
    render(
      <Monitor
        jobs={jobs}
        model={model}
        run={run}
        openMenu={openMenu}
        trans={trans}
      />
    );
  });

  afterEach(() => {
    jobs.dispose();
    jest.useRealTimers();
  });

  const pass = (ms: number): Promise<void> =>
    act(async () => {
      await jest.advanceTimersByTimeAsync(ms);
    });
  const connect = async (changes: Partial<Snapshot> = {}): Promise<void> => {
    server.socket.open();
    server.socket.push(snapshot({ engines: [engine], ...changes }));
    await pass(500);
  };
  /** Three attempts to connect fail; the next one, which comes at a random time, is made. */
  const lose = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      server.socket.break();
      const before = server.sockets.length;
      while (server.sockets.length === before) {
        await pass(500);
      }
    }
  };
  const names = (): (string | null)[] =>
    screen.getAllByRole('treeitem').map(row => row.getAttribute('data-key'));
  const change = async (changes: Partial<Delta>): Promise<void> => {
    server.socket.push(delta(changes));
    await pass(500);
  };
  const key = (element: Element | null, name: string, options = {}): void => {
    fireEvent.keyDown(element ?? document.body, { key: name, ...options });
  };

  const two = [
    someJob({ name: 'alpha', created_at: 2 }),
    someJob({ name: 'beta', created_at: 1 })
  ];

  it('offers the nodes in its menu, which waits for the engines', async () => {
    const more = screen.getByRole<HTMLButtonElement>('button', {
      name: 'More'
    });
    const entries = (): (string | null)[] => {
      fireEvent.click(more);
      const labels = document.querySelectorAll('.lm-Menu-itemLabel');
      const texts = [...labels].map(({ textContent }) => textContent);
      fireEvent.keyDown(document.querySelector('.lm-Menu') ?? document.body, {
        key: 'Escape',
        keyCode: 27
      });
      return texts;
    };
    expect(more.disabled).toBe(true);
    await connect();
    expect(more.disabled).toBe(false);
    expect(entries()).not.toContain('Show Cluster Nodes');
    await change({ engines: [engine, someCluster()] });
    expect(entries()).toContain('Show Cluster Nodes');
  });

  it('lets time stand while the page is behind another tab', async () => {
    const now = Date.now() / 1000;
    await connect({ jobs: [someJob({ running_since: now })] });
    const text = (): string | null => screen.getByRole('tree').textContent;
    const state = jest.spyOn(document, 'visibilityState', 'get');
    const setFront = (inFront: boolean): void => {
      state.mockReturnValue(inFront ? 'visible' : 'hidden');
      act(() => void document.dispatchEvent(new Event('visibilitychange')));
    };
    const before = text();
    setFront(false);
    await pass(600_000);
    expect(text()).toBe(before);
    setFront(true);
    const after = text();
    expect(after).not.toBe(before);
    await pass(60_000);
    expect(text()).not.toBe(after);
    state.mockRestore();
  });

  it('tells how many GPUs are free, and who has the others', async () => {
    const device = {
      name: 'NVIDIA H200',
      uuid: null,
      memory_total: null,
      memory_used: null
    };
    const devices = ['alpha', 'python (pid 7) of user bob', null].map(
      (used_by, index) => ({
        ...device,
        index,
        id: String(index),
        claimed_by: used_by === 'alpha' ? used_by : null,
        used_by
      })
    );
    const machine = { ...(engine.machine as Machine), devices };
    await connect({ engines: [{ ...engine, machine }], jobs: two });
    const row = screen.getByTitle(/NVIDIA H200 0: alpha/);
    expect(row.textContent).toMatch(/^H2001 of 3 free /);
    expect(row.title).toContain('NVIDIA H200 1: python (pid 7) of user bob');
    expect(row.title).toContain('NVIDIA H200 2: free');
  });

  it('says in a row what fits, and all of it in the title', async () => {
    const job = someJob({
      phase: 'Succeeded',
      reason: someReason('Ran 2 min 13 s · test accuracy 0.953'),
      devices: { name: 'nvidia.com/gpu', count: 2 }
    });
    await connect({ jobs: [job] });
    const sentence = screen.getByText('Ran 2 min 13 s · accuracy 0.953');
    expect(sentence.title).toBe('Ran 2 min 13 s · test accuracy 0.953');
    expect(sentence.nextSibling?.textContent).toBe('2 GPUs');
  });

  it('draws nothing at once, then a skeleton, then says that it is slow', async () => {
    await pass(200);
    expect(screen.queryByRole('status')).toBeNull();
    await pass(200);
    expect(screen.getByRole('status').textContent).toContain('Reading');
    await pass(5000);
    expect(screen.getByRole('status').textContent).toContain('longer than');
  });

  it('tells at first use what to do and where jobs can run', async () => {
    await connect();
    expect(screen.getByText('No jobs yet')).toBeTruthy();
    expect(screen.getByText('This machine: 8 CPUs, no GPU')).toBeTruthy();
    fireEvent.click(screen.getByText('Choose a script…'));
    expect(run).toHaveBeenCalledWith(CommandIDs.chooseScript);
  });

  it('tells why no job can run', async () => {
    await connect({
      engines: [
        { ...engine, available: false, reason: 'Needs Linux.', machine: null }
      ]
    });
    expect(screen.getByText('Jobs can’t run here')).toBeTruthy();
    expect(screen.getByText('This machine: Needs Linux.')).toBeTruthy();
    const button = screen.getByText('New job').closest('button');
    expect(button?.disabled).toBe(true);
  });

  it('gives the command when the server part is missing', async () => {
    server.answer = () => new Response('<html>', { status: 404 });
    server.socket.break();
    await pass(100);
    expect(screen.getByRole('alert').textContent).toContain(
      'jupyter server extension enable jupyterlab_t9kjob'
    );
  });

  it('keeps what it knows when the connection is lost, and comes back', async () => {
    await connect({ jobs: two });
    server.answer = () => json({ message: 'down' }, 503);
    server.socket.break();
    await pass(500);
    expect(screen.queryByText(/Stale since/)).toBeNull();
    await lose();
    expect(screen.getByText(/Stale since/)).toBeTruthy();
    expect(screen.getAllByText(/as of/).length).toBeGreaterThan(0);
    expect(names()).toContain('local::alpha:u1');
    const attempts = server.sockets.length;
    fireEvent.click(screen.getByText('Try now'));
    expect(server.sockets.length).toBe(attempts + 1);
    await connect({ jobs: two });
    expect(screen.queryByText(/Stale since/)).toBeNull();
  });

  it('says that the server refuses the page, and what helps', async () => {
    await connect({ jobs: two });
    server.answer = () => json({ message: 'Forbidden' }, 403);
    await lose();
    expect(screen.getByText(/the server refuses this page\.$/)).toBeTruthy();
    expect(screen.getByText('Reload the page').tagName).toBe('BUTTON');
    expect(screen.queryByText('Try now')).toBeNull();
    await connect({ jobs: two });
    expect(screen.queryByText(/Stale since/)).toBeNull();
  });

  it('filters, says that nothing is found, and clears by Escape', async () => {
    await connect({ jobs: two });
    const filter = screen.getByRole('searchbox');
    fireEvent.change(filter, { target: { value: 'beta' } });
    expect(names()).toEqual(['active', 'local::beta:u1', 'finished']);
    fireEvent.change(filter, { target: { value: 'zeta' } });
    expect(screen.getByText('No job matches “zeta”.')).toBeTruthy();
    key(filter, 'Escape');
    expect(names()).toHaveLength(4);
  });

  it('is one tab stop with keys for everything', async () => {
    await connect({ jobs: two });
    const rows = screen.getAllByRole('treeitem');
    expect(rows.filter(row => row.tabIndex === 0)).toHaveLength(1);
    act(() => rows[0].focus());
    key(document.activeElement, 'ArrowDown');
    expect(document.activeElement).toBe(rows[1]);
    key(document.activeElement, 'End');
    expect(document.activeElement).toBe(rows[3]);
    key(document.activeElement, 'b');
    expect(document.activeElement).toBe(rows[2]);
    key(document.activeElement, 'Enter');
    expect(run).toHaveBeenLastCalledWith(CommandIDs.openJob, {
      id: 'local::beta:u1'
    });
    key(document.activeElement, 'Delete');
    expect(run).toHaveBeenLastCalledWith(CommandIDs.deleteJob, {
      id: 'local::beta:u1'
    });
    key(document.activeElement, 'F10', { shiftKey: true });
    fireEvent.contextMenu(document.activeElement ?? document.body);
    expect(openMenu.mock.calls.map(([id]) => id)).toEqual(['local::beta:u1']);
    fireEvent.pointerDown(document.activeElement ?? document.body);
    fireEvent.contextMenu(document.activeElement ?? document.body);
    expect(openMenu).toHaveBeenCalledTimes(2);
    key(document.activeElement, 'ArrowRight');
    expect(document.activeElement?.getAttribute('aria-label')).toBe(
      'Show the log'
    );
    key(document.activeElement, 'ArrowLeft');
    expect(document.activeElement).toBe(rows[2]);
    key(document.activeElement, 'ArrowLeft');
    expect(document.activeElement).toBe(rows[0]);
    key(document.activeElement, 'ArrowLeft');
    expect(names()).toEqual(['active', 'finished']);
  });

  it('gives the focus to the next row when one is deleted', async () => {
    await connect({ jobs: two });
    act(() => screen.getAllByRole('treeitem')[1].focus());
    await change({ removed_jobs: ['local::alpha:u1'] });
    expect(document.activeElement?.getAttribute('data-key')).toBe(
      'local::beta:u1'
    );
  });

  it('lets a job that ends stay until the pointer has left', async () => {
    await connect({ jobs: two });
    const tree = screen.getByRole('tree');
    fireEvent.pointerEnter(tree);
    await change({
      jobs: [
        {
          ...two[0],
          phase: 'Succeeded',
          state: 'Succeeded',
          ended_at: 3,
          ended_by: 'itself'
        }
      ]
    });
    expect(names()).toEqual([
      'active',
      'local::alpha:u1',
      'local::beta:u1',
      'finished'
    ]);
    expect(
      screen.getAllByRole('treeitem')[1].getAttribute('aria-label')
    ).toContain('succeeded');
    fireEvent.pointerLeave(tree);
    expect(names()).toEqual([
      'active',
      'local::beta:u1',
      'finished',
      'local::alpha:u1'
    ]);
  });

  it('shows a sweep once while a retried job runs under the pointer and when it has ended', async () => {
    const sweep = {
      ...{ id: 'abc', name: 'lr', number: 1, round: 0, at_a_time: 1 },
      ...{ on_failure: 'continue' as const, rule: null, values: {} }
    };
    const failed = someJob({
      ...{ name: 'lr-1', phase: 'Failed', ended_at: 3, sweep, created_at: 3 }
    });
    const retried = someJob({ name: 'lr-2', created_at: 4, sweep });
    await connect({ jobs: [...two, failed] });
    const title = (): HTMLElement[] => screen.getAllByText('lr');
    fireEvent.pointerEnter(screen.getByRole('tree'));
    await change({ jobs: [retried] });
    expect(title()).toHaveLength(1);
    const end = { phase: 'Failed', ended_at: 5, ended_by: 'itself' } as const;
    await change({ jobs: [{ ...retried, ...end }] });
    fireEvent.pointerLeave(screen.getByRole('tree'));
    expect(title()).toHaveLength(1);
    expect(names()).toEqual([
      ...['active', two[0].id, two[1].id],
      ...['finished', 'sweep:abc', failed.id, retried.id]
    ]);
  });

  it('has only a window of a thousand jobs in the DOM', async () => {
    await connect({
      jobs: Array.from({ length: 1000 }, (_, i) =>
        someJob({ name: `job-${i}`, created_at: i })
      )
    });
    const rows = screen.getAllByRole('treeitem');
    expect(rows.length).toBeLessThan(100);
    expect(rows[1].getAttribute('aria-setsize')).toBe('1000');
  });

  it('shows a change at once, and no row more than four in a second', async () => {
    await connect({ jobs: two });
    const row = screen.getByRole('treeitem', { name: /^alpha/ });
    const texts = new Set<string | null>();
    const push = (number: number): void =>
      server.socket.push(
        delta({
          jobs: [{ ...two[0], reason: someReason(`${number} processes`) }]
        })
      );
    await pass(300);
    push(101);
    await pass(20);
    expect(row.textContent).toContain('101 processes');
    for (let number = 102; number <= 151; number++) {
      push(number);
      await pass(20);
      texts.add(row.textContent);
    }
    expect(texts.size).toBeLessThanOrEqual(5);
    await pass(250);
    expect(row.textContent).toContain('151 processes');
  });

  it('draws nothing while it is hidden, and the present when it is seen', async () => {
    await connect({ jobs: two });
    act(() => shown.set(false));
    await change({ removed_jobs: [two[0].id] });
    expect(names()).toContain(two[0].id);
    act(() => shown.set(true));
    await pass(0);
    expect(names()).not.toContain(two[0].id);
  });

  it('offers on a row only what the job allows', async () => {
    await connect({
      jobs: [
        someJob({ name: 'runs', log_dirs: ['/w/runs'] }),
        someJob({
          name: 'over',
          phase: 'Succeeded',
          ended_at: 3,
          actions: ['rerun', 'delete']
        })
      ]
    });
    const labels = (name: string): (string | null)[] => {
      const row = screen
        .getAllByRole('treeitem')
        .find(item => item.getAttribute('data-key') === `local::${name}:u1`);
      return within(row as HTMLElement)
        .getAllByRole('button', { hidden: true })
        .map(button => button.getAttribute('aria-label'));
    };
    expect(labels('runs')).toEqual([
      'Show the log',
      'Open in TensorBoard',
      'Stop…',
      'More actions'
    ]);
    expect(labels('over')).toEqual([
      'Show the log',
      'Run again',
      'More actions'
    ]);
  });

  it('shows deleted jobs where that is wanted, and reads them again when one goes', async () => {
    const gone = someJob({
      name: 'gamma',
      phase: 'Succeeded',
      ended_at: 5,
      deleted: true,
      actions: ['rerun', 'remove']
    });
    let kept = [...two, gone];
    server.answer = () => json({ jobs: kept, total: kept.length });
    await connect({ jobs: two });
    expect(screen.queryByText('gamma')).toBeNull();

    act(() => model.showDeleted(true));
    await pass(500);
    const row = screen.getByRole('treeitem', { name: /^gamma,.* deleted$/ });
    expect(names()).toEqual([
      'active',
      two[0].id,
      two[1].id,
      'finished',
      'deleted',
      gone.id
    ]);
    expect(server.requests[server.requests.length - 1].url).toContain(
      'jobs?deleted=true'
    );
    expect(jobs.get(gone.id)?.actions).toContain('remove');
    act(() => row.focus());
    key(row, 'Delete');
    expect(run).toHaveBeenCalledWith(CommandIDs.remove, { id: gone.id });

    kept = two;
    await change({ removed_jobs: [gone.id] });
    expect(screen.queryByText('gamma')).toBeNull();

    server.answer = () => json({ message: 'The home is full.' }, 507);
    await change({ removed_jobs: ['x'] });
    expect(screen.getByRole('status').textContent).toContain(
      'The deleted jobs could not be read. The home is full.'
    );
    act(() => model.showDeleted(false));
    await pass(500);
    expect(names()).not.toContain('deleted');
  });

  it('hides the jobs of others until they are asked for, and says whose they are', async () => {
    const own = someJob({ name: 'own', engine: 't9k', namespace: 'demo' });
    const other = someJob({
      name: 'other',
      engine: 't9k' as const,
      namespace: 'team-b',
      mine: false,
      owner: 'lin'
    });
    await connect({ engines: [engine, someCluster()], jobs: [own, other] });
    const mine = screen.getByRole<HTMLInputElement>('checkbox', {
      name: /^Mine/
    });
    expect(mine.checked).toBe(true);
    expect(names()).toEqual(['active', own.id, 'finished']);
    expect(screen.queryByText('demo')).toBeNull();

    fireEvent.click(mine);
    await pass(500);
    expect(names()).toEqual(
      expect.arrayContaining(['active', own.id, other.id, 'finished'])
    );
    expect(
      screen.getByRole('treeitem', { name: /^other,.*, lin, team-b$/ })
    ).toBeTruthy();
    expect(screen.getByText('lin · team-b')).toBeTruthy();
    fireEvent.change(screen.getByRole('searchbox'), {
      target: { value: 'team-b' }
    });
    expect(names()).toContain(other.id);
    expect(names()).not.toContain(own.id);

    act(() => model.showOnlyMine(true));
    await pass(500);
    fireEvent.click(screen.getByText('Show 1 job of others'));
    expect(model.state.onlyMine).toBe(false);
  });

  it.each([
    ['NoCredentials', 'Not logged in to the cluster. State as of'],
    ['Forbidden', 'No permission to see changes in the cluster. State as of'],
    ['NotServed', 'The cluster no longer has this kind of object. State as of'],
    ['Silent', 'Changes in the cluster do not arrive. State as of'],
    ['Untrusted', 'No secure connection to the cluster. State as of'],
    ['ServerError', 'The cluster answers with an error. State as of']
  ] as const)(
    'names what is wrong with the cluster: %s',
    async (code, title) => {
      await connect({
        engines: [
          engine,
          someCluster({
            stale_since: 1000,
            stale_code: code,
            stale_reason: 'What happened.',
            stale_hint: 'What to do.',
            stale_verbatim: 'pods is forbidden'
          })
        ]
      });
      const banner = screen.getByRole('status');
      expect(banner.textContent).toContain(title);
      expect(banner.textContent).toContain('What happened. What to do.');
      expect(banner.querySelector('pre')?.textContent).toBe(
        'pods is forbidden'
      );
      expect(banner.textContent).not.toContain('Connection');
    }
  );

  it('counts no further how long jobs of a cluster run that is not heard of', async () => {
    const now = Date.now() / 1000;
    const runs = {
      phase: 'Running' as const,
      started_at: now - 3600,
      running_since: now - 3600,
      ran_seconds: 0
    };
    const far = {
      ...runs,
      uid: 'far',
      name: 'far',
      engine: 't9k' as const,
      namespace: 'demo'
    };
    await connect({
      engines: [engine, someCluster({ stale_since: now - 1800 })],
      jobs: [someJob({ ...runs, uid: 'near', name: 'near' }), someJob(far)]
    });
    const times = (): (string | null)[] =>
      [...document.querySelectorAll('.jp-t9k-JobRow-time')].map(
        ({ textContent }) => textContent
      );
    expect(times().sort()).toEqual(['1 h 00 min', '30 min']);
    await pass(3_600_000);
    expect(times().sort()).toEqual(['2 h 00 min', '30 min']);
    await change({ engines: [engine, someCluster()] });
    expect(times().sort()).toEqual(['2 h 00 min', '2 h 00 min']);
  });

  it('says since when a cluster is not heard of, once, and goes on', async () => {
    const stale = { stale_since: 1000, stale_reason: 'No route to host.' };
    const job = someJob({ engine: 't9k', namespace: 'demo' });
    await connect({
      engines: [
        engine,
        someCluster(stale),
        { ...someCluster({ ...stale, stale_since: 900 }), name: 'kubeflow' }
      ],
      jobs: [job]
    });
    const banner = screen.getByRole('status');
    expect(banner.textContent).toMatch(
      /^Connection to the cluster lost\. State as of .*No route to host\./
    );
    fireEvent.click(screen.getByText('Try now'));
    expect(run).toHaveBeenCalledWith(CommandIDs.refresh);
    expect(names()).toContain(job.id);
    expect(
      screen.getByRole<HTMLButtonElement>('button', { name: 'New job' })
        .disabled
    ).toBe(false);
    await change({
      engines: [engine, { ...someCluster(stale), available: false }]
    });
    expect(screen.getByRole('status').textContent).toMatch(
      /^No connection to the cluster\. The cluster’s state has been unknown since .*No route to host\./
    );
  });

  it('tells what a job holds of what it asks for', async () => {
    const devices = { name: 'nvidia.com/gpu', count: 16 };
    await connect({
      jobs: [
        someJob({ name: 'partly', created_at: 3, devices, devices_held: 8 }),
        someJob({ name: 'wholly', created_at: 2, devices, devices_held: 16 }),
        someJob({ name: 'unknown', created_at: 1, devices })
      ]
    });
    expect(screen.getAllByText('16 GPUs').map(({ title }) => title)).toEqual([
      'has 8 of 16 GPUs',
      '',
      ''
    ]);
    expect(
      screen.getByRole('treeitem', { name: /^partly, .* has 8 of 16 GPUs$/ })
    ).toBeTruthy();
    expect(
      screen.getByRole('treeitem', { name: /^wholly, .*Running, 16 GPUs$/ })
    ).toBeTruthy();
  });

  describe('beside a cluster', () => {
    const strip = (): HTMLElement =>
      screen.getByRole('region', { name: 'Capacity of the cluster' });
    const rows = (): (string | null)[] =>
      [...strip().querySelectorAll('.jp-t9k-Capacity-row')].map(row =>
        [...row.querySelectorAll('.jp-t9k-Capacity-name, b, b + span')]
          .map(part => part.textContent)
          .join('|')
      );
    const show = (capacity: Capacity | null): Promise<void> =>
      connect({ engines: [someCluster()], capacity });

    it('tells what is free of each kind, and what of it is mine', async () => {
      await show(someCapacity());
      expect(rows()).toEqual([
        'A100 80 GB|6|of 32 free',
        'H100 80 GB|8|of 16 free'
      ]);
      const head = within(strip()).getByRole('button');
      expect(head.textContent).toBe(
        'GPUs in the clusteryours 24 of 32 allowed'
      );
      expect(head.title).toContain('6 nodes at kube.example');
      expect(head.title).toContain('CPU: 256 of 384 free');
      expect(head.title).toContain('Quota gpus of demo: 24 of 32');
      const row = strip().querySelector<HTMLElement>('.jp-t9k-Capacity-row');
      expect(row?.title).toContain('at most 2 on one node');
      expect(row?.title).toContain('Your jobs use 16, other jobs use 10.');
      // What the colours say is said to who can't see them.
      expect(row?.textContent).toContain(
        'Your jobs use 16, other jobs use 10.'
      );
      const parts = [...(row?.querySelectorAll('[data-part]') ?? [])];
      expect(parts.map(part => (part as HTMLElement).style.width)).toEqual([
        '50%',
        '31.25%',
        '0%'
      ]);
      fireEvent.click(head);
      expect(run).toHaveBeenCalledWith(CommandIDs.showNodes);
    });

    it('names the namespace where others use its quota as well', async () => {
      await show(someCapacity({ mine: { 'nvidia.com/gpu': 4 } }));
      expect(within(strip()).getByText('demo: 24 of 32 allowed')).toBeTruthy();
    });

    it('counts one’s jobs of other namespaces to no quota but theirs', async () => {
      const mine = { 'nvidia.com/gpu': 44 };
      await show(someCapacity({ mine }));
      expect(within(strip()).getByText('demo: 24 of 32 allowed')).toBeTruthy();
      const limited = 'This account may not list nodes.';
      await change({
        capacity: someCapacity({
          ...{ mine, limited, pools: [], amounts: [], nodes: 0 }
        })
      });
      expect(
        strip().querySelector<HTMLElement>('[data-part="mine"]')?.style.width
      ).toBe('75%');
    });

    it('says no number that it does not know', async () => {
      const quotas = [
        { namespace: 'demo', lines: [someQuota({ used: null })], limited: null }
      ];
      await show(someCapacity({ quotas }));
      expect(within(strip()).getByText('demo: 32 allowed')).toBeTruthy();
    });

    it('tells what is broken, and of what it has no room for', async () => {
      const broken = { unhealthy: 2, free: 1 };
      const pools = ['A', 'B', 'C', 'D', 'E', 'F'].map(product =>
        somePool({
          product,
          amount: someAmount('nvidia.com/gpu', 8, 3, broken)
        })
      );
      await show(someCapacity({ pools }));
      expect(rows()).toHaveLength(4);
      expect(
        screen.getAllByTitle(/2 are broken\. 2 are on nodes/)
      ).toHaveLength(4);
      const more = screen.getByRole('button', { name: '2 more kinds' });
      expect(more.title).toBe('E\nF');
      fireEvent.click(more);
      expect(run).toHaveBeenCalledWith(CommandIDs.showNodes);
    });

    it('tells of CPU and memory where there are no accelerators', async () => {
      await show(someCapacity({ pools: [] }));
      expect(rows()).toEqual(['CPU|256|of 384 free', 'Memory|3.0 TiB|free']);
      expect(within(strip()).getByText('The cluster')).toBeTruthy();
    });

    it('tells of the quota where the nodes may not be known', async () => {
      const limited = 'This account may not list nodes.';
      await show(someCapacity({ pools: [], amounts: [], nodes: 0, limited }));
      expect(within(strip()).getByText('Quota of demo')).toBeTruthy();
      expect(rows()).toEqual(['GPUs|8|of 32 left']);
      expect(within(strip()).getByText(limited).title).toBe(limited);
    });

    it('says what it does not know of what it counts', async () => {
      await show(someCapacity({ limited: 'Others’ pods are not counted.' }));
      expect(within(strip()).getByText(/not counted/)).toBeTruthy();
      expect(rows()).toHaveLength(2);
    });

    it('tells what is held where not even a quota is known', async () => {
      const limited = 'This account may not list nodes.';
      await show(someCapacity({ pools: [], quotas: [], nodes: 0, limited }));
      expect(within(strip()).getByText('Used by your jobs')).toBeTruthy();
      expect(rows()).toEqual([
        'GPUs|24|used',
        'CPU|32|used',
        'Memory|256 GiB|used'
      ]);
      const [pools, quotas] = [[], []];
      for (const [mine, said] of [
        [{}, 'nothing'],
        [null, 'not known']
      ] as const) {
        await change({
          capacity: someCapacity({ pools, quotas, mine, nodes: 0, limited })
        });
        expect(within(strip()).getByText(said)).toBeTruthy();
      }
    });

    it('says that it counts, and since when it knows nothing new', async () => {
      const lookedFor = { available: false, looking: true, cluster: null };
      await connect({
        engines: [{ ...someCluster(), ...lookedFor }],
        jobs: [someJob({ engine: 't9k' })]
      });
      expect(within(strip()).getByText('detecting…')).toBeTruthy();
      const limited = 'The cluster’s nodes are not known yet.';
      await change({
        engines: [someCluster()],
        capacity: someCapacity({ nodes: 0, counting: true, limited })
      });
      expect(within(strip()).getByText('counting…')).toBeTruthy();
      expect(rows()).toEqual([]);
      await change({
        capacity: someCapacity(),
        engines: [someCluster({ stale_since: Date.now() / 1000 })]
      });
      expect(within(strip()).getByText(/^as of \d\d:\d\d$/)).toBeTruthy();
      expect(rows()).toHaveLength(2);
    });

    it('asks only while it is seen', async () => {
      await show(someCapacity());
      const asks = (): unknown =>
        (server.socket.sent[server.socket.sent.length - 1] as Subscribe)
          .capacity;
      expect(asks()).toBe(true);
      act(() => shown.set(false));
      await pass(0);
      expect(asks()).toBe(false);
      act(() => shown.set(true));
      await pass(0);
      expect(asks()).toBe(true);
    });
  });

  it('lists TensorBoards with what they do', async () => {
    await connect({ tensorboards: [someTensorBoard({ status: 'starting' })] });
    const section = screen.getByRole('region', { name: 'TensorBoards' });
    expect(section.textContent).toContain('starting…');
    fireEvent.click(within(section).getByText('mnist_ddp/runs'));
    expect(run).toHaveBeenLastCalledWith(CommandIDs.openTensorBoard, {
      id: 'tb1'
    });
    fireEvent.click(within(section).getByRole('button', { name: 'Stop' }));
    expect(run).toHaveBeenLastCalledWith(CommandIDs.stopTensorBoard, {
      id: 'tb1'
    });
  });
});
