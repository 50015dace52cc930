import { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, Notification } from '@jupyterlab/apputils';
import { CommandRegistry } from '@lumino/commands';
import { ApiClient } from '../../../src/api/client';
import { JobSummary } from '../../../src/api/types';
import { Jobs } from '../../../src/jobs/model/jobs';
import { actionsPlugin } from '../../../src/job/actions';
import { CommandIDs } from '../../../src/tokens';
import { FakeServer, json, snapshot, someJob } from '../fakes';

const ID = someJob().id;

describe('the actions of a job', () => {
  let server: FakeServer;
  let jobs: Jobs;
  let commands: CommandRegistry;
  const opened = jest.fn();
  const revealed = jest.fn();

  beforeEach(async () => {
    opened.mockClear();
    revealed.mockClear();
    server = new FakeServer();
    server.answer = ({ method, url }) =>
      url.endsWith('/logs')
        ? json({ streams: [{ size: 4_000_000 }, { size: 7_000_000 }] })
        : json(method === 'GET' ? someJob() : someJob({ id: 'local::new:u2' }));
    jobs = new Jobs(new ApiClient(server.settings()));
    commands = new CommandRegistry();
    commands.addCommand(CommandIDs.openJob, { execute: opened });
    commands.addCommand('filebrowser:go-to-path', { execute: revealed });
    const app = {
      commands,
      shell: { currentWidget: null },
      serviceManager: { contents: { get: async () => ({}) } }
    } as unknown as JupyterFrontEnd;
    await actionsPlugin.activate(app, jobs, null, null);
    server.socket.open();
  });

  afterEach(() => {
    jobs.dispose();
    Dialog.flush();
  });

  const have = (changes: Partial<JobSummary> = {}): void =>
    server.socket.push(snapshot({ jobs: [someJob(changes)] }));

  /** The open dialog, as soon as it is there and has taken the focus. */
  const dialog = async (): Promise<HTMLElement> => {
    for (;;) {
      const node = document.querySelector<HTMLElement>('.jp-Dialog');
      const title = node?.querySelector('.jp-Dialog-header')?.textContent;
      if (title && node.querySelector(':focus')) {
        return node;
      }
      await new Promise(resolve => setTimeout(resolve));
    }
  };
  const press = (node: HTMLElement, label: string): void => {
    const buttons = [...node.querySelectorAll('button')];
    const found = buttons.find(button => button.textContent === label);
    expect(found).toBeDefined();
    found?.click();
  };
  const sent = (): string[] =>
    server.requests
      .filter(({ method }) => method !== 'GET')
      .map(({ method, url }) => `${method} ${url.replace(/^.*t9kjob/, '')}`);

  it('stop after a question that has Cancel in focus', async () => {
    have();
    const stopping = commands.execute(CommandIDs.stop, { id: ID });
    const node = await dialog();
    expect(node.textContent).toContain('Stop mnist-ddp-1?');
    expect(document.activeElement?.textContent).toBe('Cancel');
    press(node, 'Stop');
    await stopping;
    expect(sent()).toEqual(['POST /jobs/local%3A%3Amnist-ddp-1%3Au1/stop']);
  });

  it('pause instead of stopping', async () => {
    have();
    const stopping = commands.execute(CommandIDs.stop, { id: ID });
    press(await dialog(), 'Pause instead');
    await stopping;
    expect(sent()).toEqual(['POST /jobs/local%3A%3Amnist-ddp-1%3Au1/pause']);
  });

  it('do nothing after Cancel', async () => {
    have();
    for (const command of [
      CommandIDs.stop,
      CommandIDs.pause,
      CommandIDs.deleteJob
    ]) {
      const asked = commands.execute(command, { id: ID });
      press(await dialog(), 'Cancel');
      await asked;
    }
    expect(sent()).toEqual([]);
  });

  it('delete with the logs only when the box is checked', async () => {
    have({ phase: 'Succeeded', ended_at: 3 });
    const deleting = commands.execute(CommandIDs.deleteJob, { id: ID });
    const node = await dialog();
    const kinds = (): (string | null)[] =>
      [...node.querySelectorAll('li')]
        .filter(line => line.textContent?.includes('logs, 11 MB'))
        .map(line => line.getAttribute('data-kind'));
    expect(kinds()).toEqual(['kept']);
    const box = node.querySelector<HTMLInputElement>('[type=checkbox]');
    box?.click();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    expect(kinds()).toEqual(['lost']);
    press(node, 'Delete');
    await deleting;
    expect(sent()).toEqual([
      'DELETE /jobs/local%3A%3Amnist-ddp-1%3Au1?remove=true'
    ]);
  });

  it('show the removal only where a deletion is not possible', () => {
    have({ actions: ['rerun', 'delete', 'remove'] });
    expect(commands.isVisible(CommandIDs.remove, { id: ID })).toBe(false);
    have({ phase: 'Unknown', actions: ['rerun', 'remove'] });
    expect(commands.isVisible(CommandIDs.remove, { id: ID })).toBe(true);
    have({ actions: ['rerun', 'stop'] });
    expect(commands.isVisible(CommandIDs.remove, { id: ID })).toBe(false);
  });

  it('remove the record of a job that is not in the list any more', async () => {
    server.socket.push(snapshot());
    expect(commands.isEnabled(CommandIDs.remove, { id: ID })).toBe(true);
    const removing = commands.execute(CommandIDs.remove, { id: ID });
    press(await dialog(), 'Remove');
    await removing;
    expect(sent()).toEqual(['POST /jobs/local%3A%3Amnist-ddp-1%3Au1/remove']);
  });

  it('open the new job when one is run again', async () => {
    have();
    await commands.execute(CommandIDs.rerun, { id: ID });
    expect(opened).toHaveBeenCalledWith({ id: 'local::new:u2' });
  });

  it('are absent when the phase does not allow them, and inert while a later wish would be refused', () => {
    have({ actions: ['stop'] });
    expect(commands.isVisible(CommandIDs.resume, { id: ID })).toBe(false);
    expect(commands.isVisible(CommandIDs.stop, { id: ID })).toBe(true);
    expect(commands.isEnabled(CommandIDs.stop, { id: ID })).toBe(true);
    have({ actions: ['resume', 'stop'], pending_action: 'pausing' });
    expect(commands.isEnabled(CommandIDs.resume, { id: ID })).toBe(true);
    expect(commands.isEnabled(CommandIDs.stop, { id: ID })).toBe(true);
    have({ actions: ['stop'], pending_action: 'stopping' });
    expect(commands.isEnabled(CommandIDs.stop, { id: ID })).toBe(false);
    expect(commands.isEnabled(CommandIDs.stop)).toBe(false);
  });

  it('tell a refusal with its hint', async () => {
    have({ actions: ['resume'] });
    server.answer = () =>
      json({ message: 'It has just ended.', hint: 'Run it again.' }, 409);
    await commands.execute(CommandIDs.resume, { id: ID });
    const notices = Notification.manager.notifications;
    expect(notices[0].message).toBe('It has just ended. Run it again.');
    expect(notices[0].type).toBe('error');
    expect(notices[0].options.autoClose).toBeGreaterThanOrEqual(10_000);
  });

  it('offer the log directory of a job that has one', () => {
    const offered = (): boolean =>
      commands.isVisible(CommandIDs.openLogDirectory, { id: ID });
    have();
    expect(offered()).toBe(false);
    have({ log_dirs: ['/w/runs'] });
    expect(offered()).toBe(true);
  });

  it('reveal the working directory, or say why not', async () => {
    have();
    server.answer = () => json(someJob({ working_dir_path: 'a/b' } as object));
    await commands.execute(CommandIDs.openWorkingDirectory, { id: ID });
    expect(revealed).toHaveBeenCalledWith({ path: 'a/b' });
    server.answer = () =>
      json(someJob({ working_dir_path: null, working_dir: '/x' } as object));
    await commands.execute(CommandIDs.openWorkingDirectory, { id: ID });
    expect(revealed).toHaveBeenCalledTimes(1);
    expect(Notification.manager.notifications[0].message).toBe(
      'The file browser does not reach /x.'
    );
  });
});
