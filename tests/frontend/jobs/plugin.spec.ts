import { JupyterFrontEnd } from '@jupyterlab/application';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { waitFor } from '@testing-library/dom';
import { whenIdle } from '../../../src/common/pacing';
import { jobsPlugin } from '../../../src/jobs/plugin';
import { IJobsModel } from '../../../src/tokens';
import { FakeServer, snapshot } from '../fakes';

/** A manager of JupyterLab's that polls the server, as those of kernels, sessions and terminals. */
class Polling {
  readonly runningChanged = new Signal<this, void>(this);
}

describe('the connection to the server', () => {
  it.each(['kernels', 'sessions', 'terminals'] as const)(
    'begins after the layout, and is tried at once when JupyterLab hears of its %s again, only while it is lost',
    async name => {
      const server = new FakeServer();
      const managers = {
        kernels: new Polling(),
        sessions: new Polling(),
        terminals: new Polling()
      };
      const serviceManager = {
        ...managers,
        serverSettings: server.settings()
      };
      const restored = new PromiseDelegate<void>();
      const app = {
        serviceManager,
        restored: restored.promise
      } as unknown as JupyterFrontEnd;
      const jobs: IJobsModel = await jobsPlugin.activate(app, null);
      await whenIdle();
      expect(server.sockets).toHaveLength(0);
      restored.resolve();
      await waitFor(() => expect(server.sockets).toHaveLength(1));
      server.socket.open();
      server.socket.push(snapshot());
      managers[name].runningChanged.emit();
      expect(server.sockets).toHaveLength(1);

      server.socket.break();
      expect(jobs.connection.state).toBe('lost');
      managers[name].runningChanged.emit();
      expect(server.sockets).toHaveLength(2);
      jobs.dispose();
    }
  );
});
