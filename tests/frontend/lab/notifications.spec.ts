import { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';
import { ApiClient } from '../../../src/api/client';
import { serverNow } from '../../../src/common/clock';
import { Notice } from '../../../src/api/types';
import { Jobs } from '../../../src/jobs/model/jobs';
import { notificationsPlugin } from '../../../src/lab/notifications';
import { FakeServer, json, snapshot, someJob } from '../fakes';

/** A notice of an event that happens now. */
const noticeOf = (
  kind: Notice['kind'],
  changes: Partial<Notice> = {}
): Notice => ({
  ...{ id: kind, kind, job: someJob().id, time: serverNow() + 1 },
  ...{ title: 'mnist-ddp-1 failed', text: null, ...changes }
});

/** Wait until the code that shows notices was loaded and has run. */
const shown = async (): Promise<void> => {
  await import('../../../src/lab/notices');
  await new Promise(resolve => setTimeout(resolve));
};

describe('the news that a job failed', () => {
  let jobs: Jobs;
  let server: FakeServer;
  const tab = new Widget();
  const other = new Widget();
  const settings = new Map<string, unknown>();

  beforeEach(async () => {
    server = new FakeServer();
    server.answer = () => json({ engines: [] });
    jobs = new Jobs(new ApiClient(server.settings()));
    const app = {
      commands: new CommandRegistry(),
      shell: { widgets: () => [other, tab].values() }
    } as unknown as JupyterFrontEnd;
    settings.clear();
    const registry = {
      load: async () => ({
        get: (name: string) => ({ composite: settings.get(name) })
      })
    } as unknown as ISettingRegistry;
    await notificationsPlugin.activate(app, jobs, registry, null);
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
      const notices = phase === 'Failed' ? [noticeOf('failed')] : [];
      server.socket.push(snapshot({ jobs: [job], notices }));
      await new Promise(requestAnimationFrame);
    }
    await shown();
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
      const notices = stalled ? [noticeOf('no_progress')] : [];
      server.socket.push(snapshot({ jobs: [someJob({ stalled })], notices }));
      await new Promise(requestAnimationFrame);
    }
    await shown();
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

  it('of another kind has a way to the job, and comes once', async () => {
    tab.hide();
    server.socket.open();
    const title = 'Sweep lr has ended: 6 jobs';
    const notices = [
      noticeOf('sweep_ended', { title }),
      noticeOf('failed', { id: 'old', time: 1 })
    ];
    for (let time = 0; time < 2; time++) {
      server.socket.push(snapshot({ jobs: [someJob()], notices }));
      await new Promise(requestAnimationFrame);
    }
    await shown();
    const [notice, ...more] = Notification.manager.notifications;
    expect(more).toEqual([]);
    expect(notice.message).toBe(title);
    expect(notice.options.actions?.map(({ label }) => label)).toEqual([
      'Open job'
    ]);
  });

  it('is shown by the browser while the page is hidden, if the user wants it', async () => {
    const told: [string, NotificationOptions | undefined][] = [];
    class FakeNotification {
      static permission = 'granted';
      onclick: (() => void) | null = null;
      constructor(title: string, options?: NotificationOptions) {
        told.push([title, options]);
      }
    }
    Object.assign(window, { Notification: FakeNotification });
    const visibility = jest
      .spyOn(document, 'visibilityState', 'get')
      .mockReturnValue('hidden');
    settings.set('notifyInBrowser', ['failed']);
    settings.set('notifyInLab', []);
    tab.hide();
    await fail();
    visibility.mockRestore();
    expect(told).toEqual([
      ['mnist-ddp-1 failed', { body: 'Distributed Jobs', tag: 't9kjob-failed' }]
    ]);
    expect(Notification.manager.notifications).toEqual([]);
  });
});
