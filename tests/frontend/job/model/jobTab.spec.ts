import { ApiClient } from '../../../../src/api/client';
import { JobTabModel, JobTabStore } from '../../../../src/job/model/jobTab';
import { Jobs } from '../../../../src/jobs/model/jobs';
import { FakeServer, FakeSocket, json, snapshot } from '../../fakes';

const ID = 'local::mnist-ddp-1:u1';

describe('JobTabModel', () => {
  let server: FakeServer;
  let jobs: Jobs;
  let tab: JobTabModel;

  const frame = (): Promise<unknown> => new Promise(requestAnimationFrame);
  const logSockets = (): FakeSocket[] =>
    server.sockets.filter(({ url }) => /\/logs\b/.test(url));

  beforeEach(() => {
    server = new FakeServer();
    server.answer = () => json({ engines: [] });
    jobs = new Jobs(new ApiClient(server.settings()));
    tab = new JobTabModel(jobs, ID, new JobTabStore(null));
  });

  afterEach(() => {
    tab.dispose();
    jobs.dispose();
  });

  it('connects to the log when somebody looks at it, not before', async () => {
    await tab.show('logs');
    expect(logSockets()).toEqual([]);
    tab.setVisible(true);
    expect(logSockets()).toHaveLength(1);
    tab.setVisible(false);
    tab.setVisible(true);
    expect(logSockets()).toHaveLength(1);
  });

  it('opens nothing any more once it is closed', async () => {
    tab.setVisible(true);
    const shown = tab.show('logs');
    tab.dispose();
    await shown;
    expect(logSockets()).toEqual([]);
  });

  it('brings the log back with the jobs', async () => {
    const [stream] = server.sockets;
    stream.open();
    stream.push(snapshot());
    await frame();
    tab.setVisible(true);
    await tab.show('logs');
    logSockets()[0].break();
    stream.break();
    await frame();
    expect(logSockets()).toHaveLength(1);
    jobs.reconnect();
    server.socket.open();
    await frame();
    expect(logSockets()).toHaveLength(2);
  });
});
