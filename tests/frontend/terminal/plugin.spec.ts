/** The command that opens a terminal in a job, from a menu and from the command palette. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, ICommandPalette } from '@jupyterlab/apputils';
import { CommandRegistry } from '@lumino/commands';
import { waitFor } from '@testing-library/dom';
import { ApiClient } from '../../../src/api/client';
import { JobSummary, TerminalPlace } from '../../../src/api/types';
import { Jobs } from '../../../src/jobs/model/jobs';
import { terminalPlugin } from '../../../src/terminal/plugin';
import { TerminalView } from '../../../src/terminal/widget';
import { CommandIDs } from '../../../src/tokens';
import { FakeServer, json, snapshot, someJob } from '../fakes';

// The terminal itself draws on a canvas, which jsdom lacks.
jest.mock('../../../src/terminal/widget', () => {
  const { Widget } = jest.requireActual('@lumino/widgets');
  return {
    placeOf: ({ replica, rank }: TerminalPlace) =>
      rank === null ? replica : `rank ${rank} of ${replica}`,
    TerminalView: class extends Widget {
      constructor(readonly place: TerminalPlace) {
        super();
      }
    }
  };
});

const ID = someJob().id;
const PLACES = [null, 0, 1].map(rank => ({ replica: 'worker-0', rank }));

describe('the command that opens a terminal', () => {
  let jobs: Jobs;
  let commands: CommandRegistry;
  let places: TerminalPlace[];
  let searchable: string[];
  const front = document.createElement('div');
  const added: TerminalView[] = [];
  const addItem = jest.fn();

  beforeEach(async () => {
    added.length = 0;
    addItem.mockClear();
    places = PLACES;
    searchable = [];
    const server = new FakeServer();
    const available = { supported: true, reason: null };
    server.answer = ({ url }) =>
      json({
        available,
        places: url.includes('replica=worker-0') ? PLACES : places,
        searchable
      });
    jobs = new Jobs(new ApiClient(server.settings()));
    commands = new CommandRegistry();
    const shell = {
      currentWidget: { node: front },
      add: (view: TerminalView) => added.push(view),
      activateById: () => undefined
    };
    const app = { commands, shell } as unknown as JupyterFrontEnd;
    const palette = { addItem } as unknown as ICommandPalette;
    await terminalPlugin.activate(app, jobs, null, null, null, palette, null);
    server.socket.open();
    const have = (changes: Partial<JobSummary>): JobSummary => someJob(changes);
    server.socket.push(
      snapshot({
        jobs: [
          have({ phase: 'Running' }),
          have({ id: 'local::ended:u9', phase: 'Succeeded' })
        ]
      })
    );
    front.dataset.jobId = ID;
  });

  afterEach(() => {
    jobs.dispose();
    Dialog.flush();
  });

  it('is in the palette, for the job in front while it runs', () => {
    const command = CommandIDs.openTerminal;
    expect(addItem.mock.calls).toEqual([
      [{ command, category: 'Distributed Jobs' }]
    ]);
    expect(commands.label(command)).toBe('Open a Terminal in a Replica…');
    expect(commands.label(command, { id: ID })).toBe('Open Terminal');
    expect(commands.isEnabled(command)).toBe(true);
    front.dataset.jobId = 'local::ended:u9';
    expect(commands.isEnabled(command)).toBe(false);
    delete front.dataset.jobId;
    expect(commands.isEnabled(command)).toBe(false);
  });

  it('asks for the replica or rank', async () => {
    const opening = commands.execute(CommandIDs.openTerminal);
    const field = await waitFor(() => {
      const found = document.querySelector('select');
      expect(found).not.toBeNull();
      return found as HTMLSelectElement;
    });
    expect([...field.options].map(({ text }) => text)).toEqual([
      'worker-0',
      'rank 0 of worker-0',
      'rank 1 of worker-0'
    ]);
    field.selectedIndex = 2;
    document.querySelector<HTMLElement>('.jp-mod-accept')?.click();
    await opening;
    expect(added.map(({ place }) => place)).toEqual([
      { id: ID, replica: 'worker-0', rank: 1 }
    ]);
  });

  it('asks for the rank in a replica that must be searched', async () => {
    places = PLACES.slice(0, 1);
    searchable = ['worker-0'];
    const opening = commands.execute(CommandIDs.openTerminal);
    const field = await waitFor(() => {
      const found = document.querySelector('select');
      expect(found).not.toBeNull();
      return found as HTMLSelectElement;
    });
    field.selectedIndex = 1;
    document.querySelector<HTMLElement>('.jp-mod-accept')?.click();
    await opening;
    expect(added.map(({ place }) => place)).toEqual([
      { id: ID, replica: 'worker-0', rank: 0 }
    ]);
  });

  it('opens nothing when the question is cancelled', async () => {
    const opening = commands.execute(CommandIDs.openTerminal);
    const cancel = await waitFor(() => {
      const found = document.querySelector('.jp-Dialog .jp-mod-reject');
      expect(found).not.toBeNull();
      return found as HTMLElement;
    });
    cancel.click();
    await opening;
    expect(added).toEqual([]);
  });

  it('does not ask if there is one place only, nor from the menu of a job', async () => {
    await commands.execute(CommandIDs.openTerminal, { id: ID });
    places = PLACES.slice(1, 2);
    await commands.execute(CommandIDs.openTerminal);
    expect(added.map(({ place }) => place)).toEqual([
      { id: ID, replica: 'worker-0', rank: null },
      { id: ID, replica: 'worker-0', rank: 0 }
    ]);
  });
});
