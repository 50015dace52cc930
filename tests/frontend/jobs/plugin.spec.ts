import { JupyterFrontEnd } from '@jupyterlab/application';
import { Signal } from '@lumino/signaling';
import { jobsPlugin } from '../../../src/jobs/plugin';
import { IJobsModel } from '../../../src/tokens';
import { FakeServer, snapshot } from '../fakes';

/** A manager of JupyterLab's that polls the server, as those of kernels, sessions and terminals. */
class Polling {
  readonly runningChanged = new Signal<this, void>(this);
}

describe('the connection to the server', () => {
  it.each(['kernels', 'sessions', 'terminals'] as const)(
    'is tried at once when JupyterLab hears of its %s again, and only while it is lost',
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
      const app = { serviceManager } as unknown as JupyterFrontEnd;
      const jobs: IJobsModel = await jobsPlugin.activate(app, null);
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
