import { ApiClient } from '../../../../src/api/client';
import { EngineInfo, NodeList } from '../../../../src/api/types';
import { Jobs } from '../../../../src/jobs/model/jobs';
import { NodesModel } from '../../../../src/cluster/model/nodes';
import { someCapacity, someNode } from '../../capacityFakes';
import { someCluster } from '../../fakeJob';
import { FakeServer, delta, json, snapshot, someJob } from '../../fakes';

describe('the nodes of a cluster and of the next', () => {
  let server: FakeServer;
  let jobs: Jobs;
  let model: NodesModel;
  let answer: () => Response | Promise<Response>;

  const listed = (changes: Partial<NodeList> = {}): Response =>
    json({
      time: Date.now() / 1000,
      nodes: [someNode('a'), someNode('b')],
      counting: false,
      limited: null,
      ...changes
    });
  const failing = (): Response => json({ message: 'It is unwell.' }, 503);
  const never = (): Promise<Response> => new Promise(() => undefined);
  const counting = (): Response => listed({ nodes: [], counting: true });
  const other = someCluster({ server: 'another:6443' });

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask'] });
    server = new FakeServer();
    answer = listed;
    server.answer = ({ url }) =>
      url.includes('/cluster/nodes') ? answer() : json({ engines: [] });
    jobs = new Jobs(new ApiClient(server.settings()));
    server.socket.open();
    server.socket.push(snapshot({ engines: [someCluster()] }));
    await pass(1000);
    model = new NodesModel(jobs);
  });

  afterEach(() => {
    model.dispose();
    jobs.dispose();
    jest.useRealTimers();
  });

  const pass = async (ms: number): Promise<void> => {
    await jest.advanceTimersByTimeAsync(ms);
  };
  const show = (): Promise<void> => {
    model.setShown(true);
    return pass(100);
  };
  const tell = (engine: EngineInfo): Promise<void> => {
    server.socket.push(delta({ engines: [engine] }));
    return pass(100);
  };
  /** Have the next answer wait for what is returned. */
  const hold = (): ((late: Response) => void) => {
    let reply: ((late: Response) => void) | undefined;
    answer = () => new Promise(resolve => (reply = resolve));
    return late => {
      expect(reply).toBeDefined();
      reply?.(late);
    };
  };
  const asked = (): number =>
    server.requests.filter(({ url }) => url.includes('/cluster/nodes')).length;

  it('are those of the first, whatever changes beside it', async () => {
    await show();
    expect(model.list?.nodes).toHaveLength(2);
    answer = never;
    server.socket.push(delta({ jobs: [someJob()] }));
    await pass(5000);
    expect(model.list?.nodes).toHaveLength(2);
    expect(asked()).toBe(1);
  });

  it('are not failed by why the former could not be read', async () => {
    answer = failing;
    await show();
    expect(model.failure?.message).toBe('It is unwell.');
    await tell({ ...someCluster(), cluster: null, available: false });
    expect(model.hasCluster).toBe(false);
    expect(model.failure).toBeNull();

    await tell(someCluster());
    await pass(2000);
    expect(model.failure?.message).toBe('It is unwell.');
    answer = never;
    await tell(other);
    expect(model.failure).toBeNull();
  });

  it.each([
    ['answers', listed],
    ['fails', failing]
  ])('are not what the former %s late', async (_what, late) => {
    const reply = hold();
    await show();
    answer = counting;
    await tell(other);
    await pass(2000);
    expect(asked()).toBe(1);
    reply(late());
    await pass(100);
    // It was asked as soon as the former had answered.
    expect(asked()).toBe(2);
    expect(model.list).toBeNull();
    expect(model.failure).toBeNull();
    answer = listed;
    await pass(10_000);
    expect(model.list?.nodes).toHaveLength(2);
  });

  it.each([
    ['answers', listed],
    ['fails', failing]
  ])('are not what a periodic read %s after a newer one', async (_w, late) => {
    await show();
    const reply = hold();
    await pass(10_000);
    expect(asked()).toBe(2);
    answer = () => listed({ nodes: [someNode('newer')] });
    server.socket.push(delta({ capacity: someCapacity() }));
    await pass(2000);
    expect(asked()).toBe(3);
    expect(model.list?.nodes).toEqual([someNode('newer')]);
    reply(late());
    await pass(100);
    expect(model.list?.nodes).toEqual([someNode('newer')]);
    expect(model.failure).toBeNull();
  });

  it('are not asked for if they were hidden before the former answered', async () => {
    const reply = hold();
    await show();
    model.setShown(false);
    await tell(other);
    reply(listed());
    await pass(60_000);
    expect(asked()).toBe(1);
    expect(model.list).toBeNull();
  });

  it('are the same by another engine, not by another context at the same address', async () => {
    await show();
    answer = never;
    await tell({ ...someCluster(), name: 'kubeflow' });
    expect(model.list?.nodes).toHaveLength(2);
    await tell(someCluster({ context: 'another' }));
    expect(model.list).toBeNull();
  });
});
