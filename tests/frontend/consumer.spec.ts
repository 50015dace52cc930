import { waitFor } from '@testing-library/react';
import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { PluginRegistry } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import plugins, { IJobs, type JobSummary } from '../../src';
import { FakeServer, snapshot, someJob } from './fakes';

describe('an extension that builds on ours', () => {
  it('requires IJobs and sees the jobs, with what index.ts exports alone', async () => {
    const server = new FakeServer();
    const silent = { runningChanged: new Signal({}) };
    const seen: JobSummary[] = [];
    const consumer: JupyterFrontEndPlugin<void> = {
      id: 'consumer:plugin',
      description: 'Counts the jobs.',
      requires: [IJobs],
      activate: (_, jobs: IJobs) => {
        jobs.changed.connect(sender => seen.push(...sender.jobs));
      }
    };
    const registry = new PluginRegistry<JupyterFrontEnd>();
    registry.application = {
      restored: Promise.resolve(),
      serviceManager: {
        ...{ kernels: silent, sessions: silent, terminals: silent },
        serverSettings: server.settings()
      }
    } as unknown as JupyterFrontEnd;
    registry.registerPlugins([...plugins, consumer]);
    await registry.activatePlugin('consumer:plugin');
    await waitFor(() => expect(server.socket).toBeDefined());
    server.socket.open();
    server.socket.push(snapshot({ jobs: [someJob()] }));
    await new Promise(requestAnimationFrame);
    expect(seen.map(({ id }) => id)).toContain(someJob().id);
    (
      (await registry.resolveRequiredService(IJobs)) as unknown as {
        dispose(): void;
      }
    ).dispose();
  });
});
