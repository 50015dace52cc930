import { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';
import { ApiClient } from '../../../src/api/client';
import { serverNow } from '../../../src/common/clock';
import { Jobs } from '../../../src/jobs/jobs';
import { notificationsPlugin } from '../../../src/lab/notifications';
import { FakeServer, json, snapshot, someJob } from '../fakes';

describe('the news that a job failed', () => {
  let jobs: Jobs;
  let server: FakeServer;
  const tab = new Widget();
  const other = new Widget();

  beforeEach(async () => {
    server = new FakeServer();
    server.answer = () => json({ engines: [] });
    jobs = new Jobs(new ApiClient(server.settings()));
    const app = {
      commands: new CommandRegistry(),
      shell: { widgets: () => [other, tab].values() }
    } as unknown as JupyterFrontEnd;
    await notificationsPlugin.activate(app, jobs, null, null);
    tab.node.dataset.jobId = someJob().id;
    Widget.attach(tab, document.body);
    Widget.attach(other, document.body);
  });

  afterEach(() => {
    jobs.dispose();
    Notification.dismiss();
    Widget.detach(tab);
    Widget.detach(other);
  });

  const fail = async (): Promise<void> => {
    server.socket.open();
    for (const phase of ['Running', 'Failed'] as const) {
      const ended_at = phase === 'Failed' ? 2000 : null;
      const job = someJob({ phase, ended_at, ended_by: 'itself' });
      server.socket.push(snapshot({ jobs: [job] }));
      await new Promise(requestAnimationFrame);
    }
    await new Promise(resolve => setTimeout(resolve));
  };

  it('comes once when a job makes no progress, and stays', async () => {
    tab.hide();
    server.socket.open();
    const since = serverNow() - 725;
    const finding = '7 ranks wait in all_reduce';
    for (const stalled of [
      null,
      { kind: 'progress' as const, since, finding: null },
      { kind: 'progress' as const, since, finding }
    ]) {
      server.socket.push(snapshot({ jobs: [someJob({ stalled })] }));
      await new Promise(requestAnimationFrame);
    }
    await new Promise(resolve => setTimeout(resolve));
    const [notice, ...more] = Notification.manager.notifications;
    expect(more).toEqual([]);
    expect(notice.message).toBe('mnist-ddp-1: No progress for 12 min');
    expect(notice.options.autoClose).toBe(false);
  });

  it('goes by itself: it lies over the buttons of a launch form', async () => {
    tab.hide();
    await fail();
    const [notice, ...more] = Notification.manager.notifications;
    expect(more).toEqual([]);
    expect(notice.message).toBe('mnist-ddp-1 failed');
    expect(notice.options.autoClose).toBeLessThanOrEqual(10_000);
    expect(notice.options.actions?.map(({ label }) => label)).toEqual([
      'Open log',
      'Clone…'
    ]);
  });

  it('is not told where the job can be seen, also beside the tab in front', async () => {
    tab.show();
    await fail();
    expect(Notification.manager.notifications).toEqual([]);
  });
});
