import { JupyterFrontEnd } from '@jupyterlab/application';
import { StateDB } from '@jupyterlab/statedb';
import { CommandRegistry } from '@lumino/commands';
import { ApiClient } from '../../../src/api/client';
import { Jobs } from '../../../src/jobs/model/jobs';
import { nodesPlugin } from '../../../src/cluster/plugin';
import { CommandIDs } from '../../../src/tokens';
import { DeferredWidget } from '../../../src/shell/deferred';
import { NodesWidget } from '../../../src/cluster/widget';
import { someCluster } from '../fakeJob';
import { FakeServer, delta, json, snapshot } from '../fakes';

describe('the tab of the nodes', () => {
  it('is kept as the user set it, which no news changes', async () => {
    const server = new FakeServer();
    server.answer = () => json({ engines: [] });
    const jobs = new Jobs(new ApiClient(server.settings()));
    const stateDB = new StateDB();
    const save = jest.spyOn(stateDB, 'save');
    const added: DeferredWidget<NodesWidget>[] = [];
    const commands = new CommandRegistry();
    const app = {
      commands,
      shell: {
        add: (widget: DeferredWidget<NodesWidget>) => added.push(widget),
        activateById: () => undefined
      }
    } as unknown as JupyterFrontEnd;
    await nodesPlugin.activate(app, jobs, null, stateDB, null, null);
    await commands.execute(CommandIDs.showNodes);
    const { model } = (await added[0].loaded) as NodesWidget;
    let changes = 0;
    model.changed.connect(() => (changes += 1));

    expect(commands.isVisible(CommandIDs.showNodes)).toBe(false);
    server.socket.open();
    server.socket.push(snapshot());
    expect(commands.isVisible(CommandIDs.showNodes)).toBe(false);
    const told = jest.fn();
    commands.commandChanged.connect(told);
    server.socket.push(delta({ engines: [someCluster()] }));
    await new Promise(requestAnimationFrame);
    expect(changes).toBeGreaterThan(0);
    expect(commands.isVisible(CommandIDs.showNodes)).toBe(true);
    expect(told).toHaveBeenCalledTimes(1);
    expect(save).not.toHaveBeenCalled();

    model.view = { ...model.view, filter: 'a100' };
    expect(save).toHaveBeenCalledTimes(1);
    expect(save.mock.calls[0][1]).toMatchObject({ filter: 'a100' });
    added[0].dispose();
    jobs.dispose();
  });
});
