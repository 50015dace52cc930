import { ISignal } from '@lumino/signaling';
import { ApiClient } from '../../../../src/api/client';
import { ApiError } from '../../../../src/api/errors';
import { Delta, JobSummary } from '../../../../src/api/types';
import { Jobs } from '../../../../src/jobs/model/jobs';
import { IJobWatch, IJobsModel } from '../../../../src/tokens';
import { someCapacity } from '../../capacityFakes';
import {
  FakeServer,
  delta,
  json,
  snapshot,
  someJob,
  someTensorBoard
} from '../../fakes';

/** Resolves when something changes the next time. */
const next = ({
  changed
}: Pick<IJobsModel | IJobWatch, 'changed'>): Promise<void> =>
  new Promise(resolve => {
    const signal = changed as ISignal<unknown, void>;
    const tell = (): void => {
      signal.disconnect(tell);
      resolve();
    };
    signal.connect(tell);
  });

/** Resolves when the jobs, as they are at a change, satisfy the condition. */
const until = (jobs: IJobsModel, condition: () => boolean): Promise<void> =>
  new Promise(resolve => {
    const check = (): void => {
      if (condition()) {
        jobs.changed.disconnect(check);
        resolve();
      }
    };
    jobs.changed.connect(check);
    check();
  });

describe('Jobs', () => {
  let server: FakeServer;
  let jobs: Jobs;

  beforeEach(() => {
    server = new FakeServer();
    server.answer = () => json({ engines: [] });
    jobs = new Jobs(new ApiClient(server.settings()));
  });

  afterEach(() => jobs.dispose());

  const change = (changes: Partial<Delta>): void =>
    server.socket.push(delta(changes));

  it('is ready with the first snapshot, newest job first', async () => {
    server.socket.open();
    expect(server.socket.sent).toEqual([
      {
        type: 'subscribe',
        jobs: true,
        tensorboards: true,
        capacity: false,
        details: []
      }
    ]);
    server.socket.push(
      snapshot({
        jobs: [
          someJob({ name: 'old', created_at: 1 }),
          someJob({ name: 'new', created_at: 2 })
        ]
      })
    );
    await jobs.ready;
    expect(jobs.jobs.map(job => job.name)).toEqual(['new', 'old']);
    expect(jobs.connection).toEqual({ state: 'open' });
  });

  it('applies deltas, and tells those that come together in one', async () => {
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    await next(jobs);
    const told = jest.fn();
    jobs.changed.connect(told);
    for (let i = 0; i < 50; i++) {
      change({ jobs: [someJob({ restarts: i })] });
    }
    change({
      jobs: [someJob({ name: 'other' })],
      removed_jobs: [someJob().id],
      tensorboards: [someTensorBoard()]
    });
    expect(jobs.jobs.map(job => job.name)).toEqual(['other']);
    expect(told).not.toHaveBeenCalled();
    await next(jobs);
    expect(told).toHaveBeenCalledTimes(1);
    change({ removed_tensorboards: ['tb1'] });
    expect(jobs.tensorboards).toEqual([]);
  });

  it('takes a snapshot in parts, and knows at its end what has gone', () => {
    const ended = jest.fn();
    jobs.ended.connect(ended);
    const names = (): string[] => jobs.jobs.map(job => job.name);
    const some = (name: string, created_at: number): JobSummary =>
      someJob({ name, created_at });
    server.socket.open();
    server.socket.push(snapshot({ jobs: [some('c', 3)], complete: false }));
    expect(names()).toEqual(['c']);
    change({ jobs: [some('b', 2)], complete: false });
    change({ jobs: [some('a', 1)] });
    expect(names()).toEqual(['c', 'b', 'a']);
    server.socket.break();
    jobs.reconnect();
    server.socket.open();
    server.socket.push(snapshot({ jobs: [some('d', 4)], complete: false }));
    expect(names()).toEqual(['d', 'c', 'b', 'a']);
    const over = { phase: 'Succeeded' as const, ended_at: 2000 };
    change({ jobs: [{ ...some('a', 1), ...over }] });
    expect(names()).toEqual(['d', 'a']);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('says that a job has ended, once, also when it ended unseen', async () => {
    const ended: JobSummary[] = [];
    jobs.ended.connect((_, job) => ended.push(job));
    const over = { phase: 'Succeeded' as const, ended_at: 2000 };
    server.socket.open();
    server.socket.push(
      snapshot({
        jobs: [
          someJob(),
          someJob({ name: 'away' }),
          someJob({ name: 'was', ...over })
        ]
      })
    );
    change({ jobs: [someJob(over)] });
    change({ jobs: [someJob(over)] });
    server.socket.break();
    jobs.reconnect();
    server.socket.open();
    server.socket.push(
      snapshot({ jobs: [someJob(over), someJob({ name: 'away', ...over })] })
    );
    expect(ended.map(job => job.name)).toEqual(['mnist-ddp-1', 'away']);
  });

  it('does not take a job that is not heard of for one that ended', () => {
    const ended = jest.fn();
    jobs.ended.connect(ended);
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    change({ jobs: [someJob({ phase: 'Unknown' })] });
    expect(ended).not.toHaveBeenCalled();
  });

  it('keeps the last state, dated, while the connection is lost', async () => {
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    const before = Date.now() / 1000;
    server.socket.break();
    expect(jobs.connection.state).toBe('lost');
    expect(jobs.jobs.length).toBe(1);
    const asOf = jobs.asOf;
    expect(asOf).toBeGreaterThan(before - 5);
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(jobs.asOf).toBe(asOf);
    jobs.reconnect();
    server.socket.open();
    expect(jobs.connection.state).toBe('open');
  });

  it.each([401, 403])(
    'finds out that the server refuses the page: %s',
    async status => {
      const refused = (): boolean =>
        jobs.connection.state === 'lost' && jobs.connection.refused;
      server.socket.open();
      server.answer = () => new Response('{}', { status });
      server.socket.break();
      await until(jobs, refused);
      jobs.reconnect();
      server.socket.break();
      expect(refused()).toBe(true); // until another answer is there
      server.answer = () => new Response('', { status: 503 });
      jobs.reconnect();
      server.socket.break();
      await until(jobs, () => !refused());
      expect(jobs.connection.state).toBe('lost');
    }
  );

  it('finds out that the server part is missing', async () => {
    server.answer = () => new Response('<html>', { status: 404 });
    server.socket.break();
    await until(jobs, () => jobs.connection.state === 'missing');
    // It was enabled meanwhile, and Jupyter restarted.
    jobs.reconnect();
    server.socket.open();
    expect(jobs.connection.state).toBe('open');
  });

  it('subscribes to the details of a job while somebody watches it', async () => {
    server.socket.open();
    const id = someJob().id;
    const one = jobs.watch(id);
    const two = jobs.watch(id);
    await Promise.resolve();
    const told = jest.fn();
    one.changed.connect(told);
    const news = next(one);
    server.socket.push({
      type: 'job',
      revision: 1,
      id,
      job: someJob(),
      replicas: [],
      events: []
    });
    await news;
    expect(told).toHaveBeenCalledTimes(1);
    expect(two.detail?.job?.name).toBe('mnist-ddp-1');
    server.socket.push({
      type: 'job',
      revision: 2,
      id,
      job: null,
      replicas: [],
      events: []
    });
    expect(one.detail).toBeNull();
    one.dispose();
    one.dispose();
    await Promise.resolve();
    two.dispose();
    await Promise.resolve();
    expect(
      server.socket.sent.map(m => (m as { details: string[] }).details)
    ).toEqual([[], [id], []]);
  });

  it('asks for the details again after a reconnection', () => {
    server.socket.open();
    jobs.watch('a');
    server.socket.break();
    jobs.reconnect();
    server.socket.open();
    expect(server.socket.sent).toEqual([
      {
        type: 'subscribe',
        jobs: true,
        tensorboards: true,
        capacity: false,
        details: ['a']
      }
    ]);
  });

  it('shows an action as pending until the server speaks of the job', async () => {
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    server.answer = () => json(someJob({ pending_action: 'stopping' }));
    const acting = jobs.act(someJob().id, 'stop');
    expect(jobs.get(someJob().id)).toMatchObject({
      phase: 'Running',
      pending_action: 'stopping'
    });
    await acting;
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: expect.stringMatching(/u1\/stop$/)
    });
    expect(jobs.jobs[0].pending_action).toBe('stopping');
    change({
      jobs: [someJob({ phase: 'Failed', state: 'Stopped', ended_at: 2 })]
    });
    expect(jobs.jobs[0].pending_action).toBeNull();
  });

  it('keeps an action pending while the server speaks of something else', async () => {
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    server.answer = () => json(someJob({ pending_action: 'pausing' }));
    const acting = jobs.act(someJob().id, 'pause');
    change({ jobs: [someJob({ restarts: 1 })] });
    expect(jobs.jobs[0].pending_action).toBe('pausing');
    await acting;
    change({ jobs: [someJob({ restarts: 2 })] });
    expect(jobs.jobs[0].pending_action).toBe('pausing');
    change({ jobs: [someJob({ phase: 'Paused' })] });
    expect(jobs.jobs[0].pending_action).toBeNull();
  });

  it('lets the record of a job be removed as soon as the job is deleted', async () => {
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    const deleted = someJob({ deleted: true, actions: ['rerun', 'remove'] });
    server.answer = () => json(deleted);
    await jobs.act(deleted.id, 'delete');
    server.answer = () => json({ jobs: [deleted], total: 1 });
    const watch = jobs.deleted.watch();
    change({ removed_jobs: [deleted.id] });
    while (!jobs.get(deleted.id)) {
      await next(jobs);
    }
    expect(jobs.get(deleted.id)).toMatchObject({
      deleted: true,
      pending_action: null
    });
    watch.dispose();
  });

  it('keeps a later wish while the server still speaks of the one before', async () => {
    server.socket.open();
    const pausing = someJob({ pending_action: 'pausing' });
    server.socket.push(snapshot({ jobs: [pausing] }));
    server.answer = () => json(someJob({ pending_action: 'resuming' }));
    const acting = jobs.act(someJob().id, 'resume');
    change({ jobs: [{ ...pausing, restarts: 1 }] });
    expect(jobs.jobs[0].pending_action).toBe('resuming');
    await acting;
    change({ jobs: [someJob()] });
    expect(jobs.jobs[0].pending_action).toBeNull();
  });

  it('ends an action only with its own answer', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'performance'] });
    try {
      server.socket.open();
      server.socket.push(snapshot({ jobs: [someJob()] }));
      server.answer = () => json(someJob());
      await jobs.act(someJob().id, 'pause');
      jest.advanceTimersByTime(900);
      await jobs.act(someJob().id, 'stop');
      jest.advanceTimersByTime(200);
      expect(jobs.jobs[0].pending_action).toBe('stopping');
      jest.advanceTimersByTime(900);
      expect(jobs.jobs[0].pending_action).toBeNull();
    } finally {
      jest.useRealTimers();
    }
  });

  it('takes the pending action back when it is refused', async () => {
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    server.answer = () => json({ message: 'It has ended.' }, 409);
    await expect(jobs.act(someJob().id, 'pause')).rejects.toThrow(ApiError);
    expect(jobs.jobs[0].pending_action).toBeNull();
  });

  it('deletes with or without the record', async () => {
    server.answer = () => json(someJob(), 202);
    await jobs.act('x', 'delete', { remove: true });
    expect(server.requests[0]).toMatchObject({
      method: 'DELETE',
      url: expect.stringMatching(/\/jobs\/x\?remove=true$/)
    });
  });

  it('asks for what is free only while somebody looks', async () => {
    server.socket.open();
    server.socket.push(snapshot());
    await jobs.ready;
    const asked = (): unknown[] =>
      server.socket.sent.map(m => (m as { capacity: boolean }).capacity);
    const [first, second] = [jobs.watchCapacity(), jobs.watchCapacity()];
    await Promise.resolve();
    expect(asked()).toEqual([false, true]);
    change({ capacity: someCapacity({ nodes: 7 }) });
    expect(jobs.capacity?.nodes).toBe(7);
    change({ capacity: null });
    expect(jobs.capacity?.nodes).toBe(7);
    first.dispose();
    first.dispose();
    await Promise.resolve();
    expect(asked()).toEqual([false, true]);
    second.dispose();
    await Promise.resolve();
    expect(asked()).toEqual([false, true, false]);
    // A snapshot of other lists says nothing of it.
    server.socket.push(snapshot());
    expect(jobs.capacity?.nodes).toBe(7);
  });
});
