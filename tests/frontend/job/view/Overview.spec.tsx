import { nullTranslator } from '@jupyterlab/translation';
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';
import * as React from 'react';
import {
  CheckpointFile,
  Checkpoints,
  Event,
  Fix,
  Job,
  Replica
} from '../../../../src/api/types';
import { attemptRows } from '../../../../src/job/replicas/Attempts';
import { factsOf } from '../../../../src/jobs/engines';
import { argumentGroups, Overview } from '../../../../src/job/view/Overview';
import { rankRange } from '../../../../src/job/replicas/columns';
import { Replicas } from '../../../../src/job/replicas/Replicas';
import { CommandIDs } from '../../../../src/tokens';
import { someEngines } from '../../clusterFakes';
import { failedJob, fullJob, someFailure, someReplica } from '../../fakeJob';
import { someStream } from '../../fakeLog';

const trans = nullTranslator.load('jupyterlab_t9kjob');

function someFile(path: string, resume: Fix | null = null): CheckpointFile {
  return { path, time: 1041, size: 1, resume };
}

function overview(
  job: Job,
  events: Event[] = [],
  replicas: Replica[] = [],
  rawEvents = false,
  checkpoints?: Partial<Checkpoints>
) {
  const found: Checkpoints = {
    folders: ['mnist_ddp'],
    count: 0,
    size: 0,
    newest: null,
    files: [],
    complete: true,
    resume_option: null,
    resume_problem: null,
    ...checkpoints
  };
  const calls = {
    has: () => true,
    curves: null,
    readJob: jest.fn(() => Promise.reject(new Error('removed'))),
    readCheckpoints: jest.fn(
      // Without any, the answer never comes.
      () => new Promise<Checkpoints>(done => checkpoints && done(found))
    ),
    code: { read: jest.fn(), file: jest.fn(), restore: jest.fn() },
    setRawEvents: jest.fn(),
    run: jest.fn(),
    openFile: jest.fn(),
    openFolder: jest.fn(),
    showRuns: jest.fn(),
    openJob: jest.fn(),
    showInLog: jest.fn(),
    showAttempt: jest.fn(),
    downloadLogs: jest.fn(),
    exportJob: jest.fn(),
    kernelTitle: jest.fn((name: string | null) => `Python 3 (${name})`)
  };
  const view = render(
    <Overview
      job={job}
      facts={factsOf(someEngines(), job.engine)}
      events={events}
      replicas={replicas}
      streams={[someStream(0, { size: 38_000_000 })]}
      rawEvents={rawEvents}
      trans={trans}
      {...calls}
    />
  );
  return { ...view, ...calls };
}

describe('Overview', () => {
  it('says what runs, keeps options with their values, and opens the script', () => {
    const { container, openFile } = overview(fullJob());
    const command = container.querySelector('.jp-t9k-Command code');
    expect(command?.textContent).toContain('train.py --lr 0.01');
    expect(argumentGroups(['--a', '-1', 'b', '--c', '--d', 'e f'])).toEqual([
      '--a -1 b',
      '--c',
      "--d 'e f'"
    ]);
    fireEvent.click(screen.getByText('Open train.py'));
    expect(openFile).toHaveBeenCalledWith({
      path: 'mnist_ddp/train.py',
      line: 1
    });
    expect(screen.getByText('Python 3 (python3)')).toBeTruthy();
    expect(screen.getByText('1 replica, 2 processes')).toBeTruthy();
  });

  it('quotes the name of a script as a shell needs it', () => {
    const job = fullJob();
    const entrypoint = { ...job.spec.entrypoint, value: '/w/my $HOME.py' };
    const { container } = overview({
      ...job,
      spec: { ...job.spec, entrypoint }
    });
    const command = container.querySelector('.jp-t9k-Command code');
    expect(command?.textContent).toContain("'my $HOME.py' --lr 0.01");
  });

  it('downloads the logs and says how large they are', () => {
    const { container, downloadLogs } = overview(fullJob());
    fireEvent.click(screen.getByText('Download'));
    expect(downloadLogs).toHaveBeenCalled();
    expect(container.textContent).toContain('38 MB');
  });

  it('tells a failure: rank, code in words, error, traceback without libraries', () => {
    const { container, openFile, showInLog } = overview(failedJob());
    expect(screen.getByText('Rank 1 failed: ValueError: boom')).toBeTruthy();
    expect(container.textContent).toMatch(
      /Rank 1 on worker-0 ended at [\d:]+: Error \(1\)\./
    );
    expect(screen.getByText('2 frames in torch/nn/b.py')).toBeTruthy();
    expect(container.textContent).not.toContain('torch/nn/a.py');
    fireEvent.click(screen.getByText('show'));
    expect(container.textContent).toContain('torch/nn/a.py');
    fireEvent.click(screen.getByText('mnist_ddp/train.py", line 96'));
    expect(openFile).toHaveBeenCalledWith({
      path: 'mnist_ddp/train.py',
      line: 96,
      cell: null
    });
    fireEvent.click(screen.getByText('Show in log'));
    expect(showInLog).toHaveBeenCalled();
  });

  it('has one button that continues: the user’s own code, where the traceback names it', () => {
    const { run, openFile, showInLog } = overview(failedJob());
    const panel = within(screen.getByRole('region', { name: 'Why it failed' }));
    const names = panel.getAllByRole('button').map(item => item.textContent);
    expect(names).toEqual([
      'train.py, line 96',
      'Open the file',
      'Run again',
      'Show in log'
    ]);
    expect(panel.getByText('Open the file').dataset.kind).toBe('primary');
    expect(panel.getByText('Run again').dataset.kind).toBe('plain');
    fireEvent.click(panel.getByText('train.py, line 96'));
    fireEvent.click(panel.getByText('Open the file'));
    const place = { path: 'mnist_ddp/train.py', line: 96, cell: null };
    expect(openFile).toHaveBeenCalledTimes(2);
    expect(openFile.mock.calls[0][0]).toEqual(place);
    expect(openFile.mock.calls[1][0]).toMatchObject(place);
    fireEvent.click(panel.getByText('Run again'));
    expect(run).toHaveBeenCalledWith(CommandIDs.rerun);
    fireEvent.click(panel.getByText('Show in log'));
    expect(showInLog).toHaveBeenCalled();
  });

  it('shows the last output unless it is the traceback again', () => {
    const stream = 'worker-0.1.rank-1.err';
    const output = (lines: string[], offset: number): Job =>
      failedJob({
        failure: someFailure({ last_output: { stream, offset, lines } })
      });
    const error = 'ValueError: boom';
    const same = overview(output(['  boom()', error], 50));
    expect(screen.queryByText('Last output')).toBeNull();
    same.unmount();
    const before = overview(output(['step 400', error], 30));
    const group = screen.getByRole('group', { name: 'Last output' });
    expect(group.textContent).toContain('step 400');
    expect(group.tabIndex).toBe(0);
    before.unmount();
    overview(output([error, 'closing'], 50));
    expect(screen.getByText('closing')).toBeTruthy();
  });

  it('offers the change that the server knows, and clones with it', () => {
    const job = failedJob();
    const fix = {
      label: 'Clone with 192Gi',
      changes: { '/spec/replica_specs/0/resources/memory/limit': '192Gi' }
    };
    const reason = job.reason && { ...job.reason, fix };
    const { run } = overview({ ...job, reason });
    const button = screen.getByText('Clone with 192Gi');
    expect(button.dataset.kind).toBe('primary');
    fireEvent.click(button);
    expect(run).toHaveBeenCalledWith(CommandIDs.clone, { fix });
  });

  it('says which checkpoints are kept', async () => {
    const { container, openFolder } = overview(failedJob(), [], [], false, {
      count: 2,
      size: 64_000_000,
      newest: someFile('mnist_ddp/out/step_400.pt')
    });
    fireEvent.click(await screen.findByText('mnist_ddp/out'));
    expect(openFolder).toHaveBeenCalledWith('mnist_ddp/out');
    expect(container.textContent).toContain(
      'mnist_ddp/out · 2 files, 64 MB, the newest step_400.pt on '
    );
  });

  it('runs again from a checkpoint, or says why it can not', async () => {
    const fixOf = (path: string) => ({
      label: `Run again from ${path}`,
      changes: { '/spec/args': ['--resume', `/work/${path}`] }
    });
    const [newest, older] = ['b.pt', 'a.pt'].map(path =>
      someFile(path, fixOf(path))
    );
    const files = [newest, older, someFile('0.pt')];
    const found = { count: 3, newest, files, resume_option: '--resume' };
    const { run } = overview(failedJob(), [], [], false, found);
    const name = /^Run again from this checkpoint: /;
    const buttons = await screen.findAllByRole('button', {
      ...{ name, hidden: true }
    });
    expect(
      buttons.map(({ attributes, title }) => [
        attributes.getNamedItem('aria-label')?.value,
        title
      ])
    ).toEqual(
      ['b.pt', 'a.pt'].map(path => [
        `Run again from this checkpoint: ${path}`,
        'Opens the form with a clone of the job in which --resume names this checkpoint'
      ])
    );
    fireEvent.click(buttons[1]);
    const fix = fixOf('a.pt');
    expect(run).toHaveBeenCalledWith(CommandIDs.clone, { fix });
    cleanup();
    overview(failedJob(), [], [], false, {
      ...{ count: 1, newest: someFile('a.pt') },
      resume_problem: 'train.py has no option that is known to resume.'
    });
    await screen.findByText('train.py has no option that is known to resume.');
    expect(screen.queryByText(/Run again from/)).toBeNull();
  });

  it('leads from an evicted job to the one that continues it, and back', () => {
    const [old, next] = ['kubeflow:n:a-1:u1', 'kubeflow:n:a-2:u2'];
    const { openJob } = overview(
      failedJob({ continuation: { job: next, problem: null } })
    );
    fireEvent.click(screen.getByRole('button', { name: 'a-2' }));
    expect(openJob).toHaveBeenCalledWith(next);
    cleanup();
    const problem = 'It has written no checkpoint.';
    overview(failedJob({ continuation: { job: null, problem } }));
    expect(screen.getByText('No new job continues it.')).toBeTruthy();
    expect(screen.getByText(problem)).toBeTruthy();
    cleanup();
    const view = overview(
      fullJob({ continues: { job: old, checkpoint: '/w/a.pt', number: 2 } })
    );
    expect(view.container.textContent).toContain(
      'a-1 · after its eviction, from /w/a.pt · continuation 2 of at most 3'
    );
    fireEvent.click(screen.getByRole('button', { name: 'a-1' }));
    expect(view.openJob).toHaveBeenCalledWith(old);
  });

  it('says that there are none, or that not all was looked at', async () => {
    const none = overview(failedJob(), [], [], false, {});
    expect(await screen.findByText(/^none found in the job/)).toBeTruthy();
    none.unmount();
    const some = { count: 1, newest: someFile('a.pt') };
    const many = overview(failedJob(), [], [], false, {
      ...some,
      complete: false
    });
    expect(await screen.findByText(/at least 1 file,/)).toBeTruthy();
    expect(screen.getByText('the root folder')).toBeTruthy();
    many.unmount();
    const { readCheckpoints } = overview(fullJob());
    expect(readCheckpoints).not.toHaveBeenCalled(); // it still runs
  });

  it('tells the story with repeats folded', () => {
    const { container, setRawEvents } = overview(fullJob(), [
      {
        time: 1001,
        type: 'Warning',
        reason: 'WorkerRestart',
        message: 'torchrun restarted its ranks.',
        replica: 'worker-0',
        object: null,
        first_time: null,
        count: 4
      }
    ]);
    expect(container.textContent).toContain(
      'worker-0 torchrun restarted its ranks.4×'
    );
    fireEvent.click(screen.getByRole('radio', { name: 'Events' }));
    expect(setRawEvents).toHaveBeenLastCalledWith(true);
    const words = screen.getByRole('radio', { name: 'Words' });
    fireEvent.keyDown(words, { key: 'ArrowRight' });
    expect(setRawEvents).toHaveBeenCalledTimes(2);
  });

  it('says since when an event is repeated, and of what', () => {
    const { container } = overview(
      fullJob(),
      [
        {
          time: 2000,
          type: 'Warning',
          reason: 'FailedScheduling',
          message: '0/3 nodes are available',
          replica: null,
          object: 'Pod bert-worker-0',
          first_time: 1000,
          count: 4
        }
      ],
      [],
      true
    );
    expect(container.textContent).toMatch(/4× since /);
    expect(screen.getByText('Pod bert-worker-0')).toBeTruthy();
  });

  it('shows no empty section for an engine that is not known', () => {
    const job = fullJob({ engine: 'slurm', namespace: '' });
    const { runtime } = job.spec;
    const { container } = overview({
      ...job,
      spec: { ...job.spec, runtime: { ...runtime, kernel: null } }
    });
    const heads = screen.getAllByRole('heading').map(head => head.textContent);
    expect(heads).not.toContain('Volumes');
    expect(heads).not.toContain('Placement');
    for (const label of ['Image', 'Kernel', 'Each replica', 'has ended']) {
      expect(container.textContent).not.toContain(label);
    }
  });

  it('says what a job in a cluster has, as a person would', () => {
    const job = fullJob({ engine: 't9k', namespace: 'demo' });
    const [group] = job.spec.replica_specs;
    const { container } = overview({
      ...job,
      devices: { name: 'nvidia.com/gpu', count: 16 },
      devices_held: 8,
      spec: {
        ...job.spec,
        runtime: { ...job.spec.runtime, image: 'test.local/torch:cpu' },
        replica_specs: [
          {
            ...group,
            resources: {
              cpu: { request: '4', limit: '8' },
              memory: { request: '16Gi', limit: '16Gi' },
              device: null
            }
          }
        ],
        shm: { size_limit: '8Gi', volume: null },
        mounts: [
          {
            claim: 't9k-mnt',
            mount_path: '/t9k/mnt',
            sub_path: 'lin',
            read_only: true,
            volume: null
          }
        ],
        config_files: [{ path: '/etc/nccl.conf', text: 'NCCL_DEBUG=ä' }],
        security: { uid: 1000, gid: 100, fs_group: null, restricted: false },
        scheduling: {
          ...job.spec.scheduling,
          queue: 'default',
          priority: 10,
          node_selector: { zone: 'a' },
          tolerations: [{ key: 'gpu', value: 'a100', effect: 'NoSchedule' }]
        }
      }
    });
    for (const text of [
      'Imagetest.local/torch:cpu',
      '/etc/nccl.confconfig file, 13 B',
      'GPUs16 requested, 8 assigned',
      'Each replica4 to 8 CPU, 16Gi memory, 8Gi shared memory',
      '/t9k/mntPVC t9k-mnt, folder lin, read-only',
      'Queuedefault, priority 10',
      'Only nodes withzone = a',
      'Tolerated taintsgpu = a100 (NoSchedule)',
      'Runs asuser 1000, group 100',
      'After the job endsrunning pods are deleted, finished pods are kept'
    ]) {
      expect(container.textContent).toContain(text);
    }
  });

  it('puts attempts that were alike into one row, the last first', () => {
    const [attempt] = someReplica().attempts;
    const failed = { ...attempt, ended_at: 1010, exit_code: 1, ended: 'x (1)' };
    const second = { ...attempt, number: 2 };
    const rows = attemptRows([
      someReplica({ attempts: [failed, second] }),
      someReplica({ index: 1, attempts: [failed, second] }),
      someReplica({ index: 2, attempts: [{ ...failed, ended: 'y (1)' }] })
    ]);
    expect(rows.map(row => [row.attempt.number, row.replicas.join()])).toEqual([
      [2, 'worker-0,worker-1'],
      [1, 'worker-0,worker-1'],
      [1, 'worker-2']
    ]);
  });
});

describe('Replicas', () => {
  const replicas = [10, 2, 1].map(index =>
    someReplica({ index, restarts: index })
  );
  const names = (): (string | null)[] =>
    screen
      .getAllByRole('row')
      .slice(1)
      .map(row => row.firstChild?.textContent ?? null);

  it('sorts by number, and by any column', () => {
    render(
      <Replicas
        hasPods={false}
        replicas={replicas}
        trans={trans}
        showLog={() => undefined}
        terminals={null}
        searchTerminals={jest.fn()}
        openTerminal={() => undefined}
      />
    );
    expect(names()).toEqual(['worker-1', 'worker-2', 'worker-10']);
    fireEvent.click(screen.getByText('Restarts'));
    fireEvent.click(screen.getByText('Restarts'));
    expect(names()).toEqual(['worker-10', 'worker-2', 'worker-1']);
    const header = screen.getByText('Restarts').closest('th');
    expect(header?.getAttribute('aria-sort')).toBe('descending');
  });

  it('is one tab stop, in which arrows move', () => {
    const showLog = jest.fn();
    render(
      <Replicas
        hasPods={false}
        replicas={replicas}
        trans={trans}
        showLog={showLog}
        terminals={null}
        searchTerminals={jest.fn()}
        openTerminal={() => undefined}
      />
    );
    const grid = screen.getByRole('grid');
    act(() => grid.focus());
    expect(document.activeElement?.textContent).toBe('worker-1');
    fireEvent.keyDown(document.activeElement as Element, { key: 'ArrowDown' });
    expect(document.activeElement?.textContent).toBe('worker-2');
    // The last column opens a terminal, the one before it the log.
    fireEvent.keyDown(document.activeElement as Element, { key: 'End' });
    fireEvent.keyDown(document.activeElement as Element, { key: 'ArrowLeft' });
    fireEvent.click(document.activeElement as Element);
    expect(showLog.mock.calls[0][0].name).toBe('worker-2');
    expect(grid.tabIndex).toBe(-1);
  });

  it('writes ranks as ranges', () => {
    expect(rankRange([0, 1, 2, 3])).toBe('0 – 3');
    expect(rankRange([5])).toBe('5');
    expect(rankRange([0, 4])).toBe('0, 4');
    expect(rankRange([])).toBe('');
  });
});
