import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen, within } from '@testing-library/react';
import { ApiClient } from '../../../src/api/client';
import { Capacity, Subscribe } from '../../../src/api/types';
import { Jobs } from '../../../src/jobs/model/jobs';
import { LaunchModel } from '../../../src/launch/model/launch';
import { Shown, someCapacity, somePool, someQuota } from '../capacityFakes';
import { ClusterServer, someEngines } from '../clusterFakes';
import { delta, json, snapshot } from '../fakes';
import { launchModel } from '../launchFakes';
import { drawLaunch, layOut } from '../launchView';

const LABEL = 'nvidia.com/gpu.product';
const A100 = 'NVIDIA-A100-SXM4-80GB';

describe('what is free, beside the fields', () => {
  let server: ClusterServer;
  let jobs: Jobs;
  let model: LaunchModel;
  let shown: Shown;
  /** What the server says of a namespace that is not watched. */
  let asked: Capacity;

  beforeAll(() => {
    layOut(1200);
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  });

  beforeEach(() => {
    shown = new Shown();
    server = new ClusterServer();
    asked = someCapacity({ quotas: [] });
    const { answer } = server;
    server.answer = request =>
      request.url.includes('/cluster/capacity') ? json(asked) : answer(request);
    jobs = new Jobs(new ApiClient(server.settings()));
  });

  afterEach(() => {
    model.dispose();
    jobs.dispose();
  });

  const settle = (): Promise<void> =>
    act(async () => {
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
    });
  const open = async (
    capacity: Capacity | null,
    engine: 't9k' | 'local' = 't9k'
  ): Promise<void> => {
    server.socket.open();
    server.socket.push(snapshot({ engines: someEngines(), capacity }));
    const db = new StateDB();
    model = launchModel(server, { db, jobs });
    await model.open();
    await model.moveTo(engine);
    await drawLaunch(model, db);
    await settle();
  };
  const panel = (): HTMLElement =>
    screen.getByRole('region', { name: 'Free now' });
  const rows = (): (string | null)[] =>
    within(panel())
      .getAllByRole('row')
      .slice(1)
      .map(({ textContent }) => textContent);
  const chosen = (): (string | null)[] =>
    [...panel().querySelectorAll('[data-chosen] th')].map(
      ({ firstChild }) => firstChild?.textContent ?? null
    );
  const field = (name: string): HTMLInputElement =>
    screen.getByLabelText<HTMLInputElement>(name, { exact: true });
  const type = (name: string, text: string): void => {
    fireEvent.change(field(name), { target: { value: text } });
  };
  const offered = (): HTMLElement[] => {
    fireEvent.keyDown(field('GPUs'), { key: 'ArrowDown' });
    const list = field('GPUs').getAttribute('aria-controls') ?? '';
    return within(document.getElementById(list) as HTMLElement).getAllByRole(
      'option'
    );
  };
  const kinds = (): (string | null)[] =>
    offered().map(({ textContent }) => textContent);
  const choose = (name: string): void => {
    const option = offered().find(
      ({ firstChild }) => firstChild?.textContent === name
    );
    fireEvent.click(option as HTMLElement);
  };

  it('tells what of each kind is free, and the most on one node', async () => {
    await open(someCapacity());
    expect(rows()).toEqual([
      'A100 80 GB6 of 322 of 8',
      'H100 80 GB8 of 168 of 8'
    ]);
    expect(chosen()).toEqual([]);
    expect(
      within(panel()).getByText(
        'You may use 8 more (quota of demo: 24 of 32 used)'
      )
    ).toBeTruthy();
    expect(
      screen.getByText(/cores of each node · at most 62 free/)
    ).toBeTruthy();
    type('GPUs on each node', '4');
    expect(chosen()).toEqual(['A100 80 GB', 'H100 80 GB']);
    expect(
      screen.getByText(/cores of each node · at most 60 free/)
    ).toBeTruthy();
    expect(
      screen.getByText(/of each node · at most 512 GiB free/)
    ).toBeTruthy();
  });

  it('lets one choose a product, by the label of its nodes', async () => {
    await open(someCapacity());
    type('GPUs on each node', '4');
    expect(kinds()).toEqual([
      'A100 80 GB6 of 32 free',
      'H100 80 GB8 of 16 free',
      'nvidia.com/gpuany kind, 14 of 48 free'
    ]);
    choose('A100 80 GB');
    expect(field('GPUs').value).toBe('A100 80 GB');
    expect(model.spec.scheduling.node_selector).toEqual({ [LABEL]: A100 });
    expect(model.spec.replica_specs[0].resources.device).toEqual({
      name: 'nvidia.com/gpu',
      count: 4
    });
    expect(chosen()).toEqual(['A100 80 GB']);
    act(() =>
      model.setNodeSelector([
        ...model.form.nodeSelector,
        { name: 'zone', value: 'b' }
      ])
    );
    choose('nvidia.com/gpu');
    expect(model.spec.scheduling.node_selector).toEqual({ zone: 'b' });
    expect(chosen()).toEqual(['A100 80 GB', 'H100 80 GB']);
    type('GPUs', 'amd.com/gpu');
    expect(chosen()).toEqual([]);
    expect(model.spec.replica_specs[0].resources.device?.name).toBe(
      'amd.com/gpu'
    );
  });

  it('offers only the resource where labels do not tell products apart', async () => {
    const [, h100] = someCapacity().pools;
    await open(
      someCapacity({ pools: [somePool({ product_label: null }), h100] })
    );
    type('GPUs on each node', '1');
    expect(kinds()).toEqual([
      'H100 80 GB8 of 16 free',
      'nvidia.com/gpuany kind, 14 of 48 free'
    ]);
  });

  it('follows what changes, and only while it is seen', async () => {
    await open(someCapacity());
    const asks = (): unknown => {
      const { sent } = server.socket;
      return (sent[sent.length - 1] as Subscribe).capacity;
    };
    expect(asks()).toBe(true);
    await act(async () => {
      server.socket.push(
        delta({
          capacity: someCapacity({ pools: [somePool({ most_on_a_node: 0 })] })
        })
      );
    });
    await settle();
    expect(rows()).toEqual(['A100 80 GB6 of 320 of 8']);
    await act(async () => shown.set(false));
    await settle();
    expect(asks()).toBe(false);
  });

  it('asks for the limits of a namespace that is not watched', async () => {
    await open(someCapacity());
    asked = someCapacity({
      quotas: [
        { namespace: 'team-b', lines: [someQuota({ hard: 25 })], limited: null }
      ]
    });
    await act(async () => model.setNamespace('team-b'));
    await settle();
    expect(
      within(panel()).getByText(
        'You may use 1 more (quota of team-b: 24 of 25 used)'
      )
    ).toBeTruthy();
  });

  it('says what may be used in a namespace that is not watched', async () => {
    const limited = 'This account may not see nodes.';
    await open(someCapacity({ pools: [], nodes: 0, limited }));
    const lines = [someQuota({ hard: 25 })];
    asked = someCapacity({
      quotas: [{ namespace: 'team-b', lines, limited: null }]
    });
    await act(async () => model.setNamespace('team-b'));
    await settle();
    const limits = screen.getByRole('region', { name: 'Quota of team-b' });
    expect(limits.textContent).toContain('GPUs1 of 25');
  });

  it('says what may be used where nodes may not be known', async () => {
    const limited = 'This account may not see nodes.';
    const lines = ['a/1', 'a/2', 'a/3', 'a/4', 'nvidia.com/gpu'].map(resource =>
      someQuota({ resource })
    );
    const quotas = [{ namespace: 'demo', lines, limited: null }];
    await open(someCapacity({ pools: [], nodes: 0, limited, quotas }));
    const limits = screen.getByRole('region', { name: 'Quota of demo' });
    expect(screen.queryByTitle(/24 of 32 nvidia.com\/gpu/)).toBeNull();
    type('GPUs on each node', '4');
    expect(screen.getByTitle(/24 of 32 nvidia.com\/gpu/)).toBeTruthy();
    expect(limits.textContent).toContain(limited);
    expect(screen.getByText('cores of each node')).toBeTruthy();
    expect(kinds()[0]).toContain('NVIDIA, whole');
  });

  it('says that nothing is known where nodes may not be known and nothing is limited', async () => {
    const limited = 'This account may not see nodes.';
    await open(someCapacity({ pools: [], nodes: 0, limited, quotas: [] }));
    const region = screen.getByRole('region', {
      name: 'The free capacity is not known'
    });
    expect(within(region).queryByRole('table')).toBeNull();
    expect(within(region).getByText(limited)).toBeTruthy();
  });

  it('is not there for this machine, and where nothing is known', async () => {
    await open(null);
    expect(screen.queryByRole('region', { name: 'Free now' })).toBeNull();
    expect(screen.getByText('cores of each node')).toBeTruthy();
  });
});
