import { nullTranslator } from '@jupyterlab/translation';
import { fireEvent, render, screen, within } from '@testing-library/react';
import * as React from 'react';
import { EngineInfo, Job, JobCurves } from '../../../../src/api/types';
import { JobActions } from '../../../../src/job/view/JobActions';
import { JobHeader } from '../../../../src/job/view/JobHeader';
import { CommandIDs } from '../../../../src/tokens';
import { someEngines } from '../../clusterFakes';
import { failedJob, fullJob, someCluster } from '../../fakeJob';

const trans = nullTranslator.load('jupyterlab_t9kjob');

function header(
  job: Job,
  failureBelow = false,
  asOf: number | null = null,
  engines: EngineInfo[] = someEngines(),
  curves: JobCurves | null = null
) {
  const showFailure = jest.fn();
  const run = jest.fn();
  const view = render(
    <JobHeader
      job={job}
      engines={engines}
      asOf={asOf}
      curves={curves}
      failureBelow={failureBelow}
      showFailure={showFailure}
      trans={trans}
    >
      <JobActions
        job={job}
        trans={trans}
        run={run}
        has={() => true}
        openMenu={() => undefined}
      />
    </JobHeader>
  );
  const buttons = (): (string | null)[] =>
    within(screen.getByRole('toolbar'))
      .getAllByRole('button')
      .map(button => button.textContent || button.getAttribute('aria-label'));
  return { ...view, showFailure, run, buttons };
}

describe('JobHeader', () => {
  it('says who, where and why of a running job', () => {
    const { container, buttons } = header(
      fullJob({ restarts: 1, log_dirs: ['/w/runs'] })
    );
    expect(screen.getByRole('img', { name: 'running' })).toBeTruthy();
    expect(screen.getByRole('heading').textContent).toBe('mnist-ddp-1');
    expect(container.textContent).toMatch(
      /Running for .+ · this machine · 2 processes on CPU/
    );
    expect(container.textContent).toContain(
      'The replica is running. Restarted once.'
    );
    expect(buttons()).toEqual([
      'TensorBoard',
      'Pause',
      'Stop',
      'Clone',
      'More actions'
    ]);
    expect(screen.queryByRole('progressbar')).toBeNull();
  });

  it('says how far and how good', () => {
    header(
      fullJob({
        progress: {
          text: 'Epoch 4 of 10, batch 412 of 938',
          fraction: 0.35,
          rate: '22.7 batches a second',
          eta_seconds: 271,
          metrics: { lr: 0.1, loss: 0.08123, 'val accuracy': 0.9718 },
          updated_at: Date.now() / 1000
        }
      })
    );
    const bar = screen.getByRole('progressbar');
    expect(bar.getAttribute('aria-valuenow')).toBe('35');
    expect(bar.getAttribute('aria-valuetext')).toMatch(
      /^Epoch 4 of 10, batch 412 of 938, 5 min left, ends about \d\d:\d\d$/
    );
    expect(screen.getByText('22.7 batches a second')).toBeTruthy();
    const metrics = screen.getAllByRole('definition');
    expect(metrics.map(item => item.textContent)).toEqual([
      '0.08123',
      '0.9718'
    ]);
  });

  it('estimates no end that has passed', () => {
    header(
      fullJob({
        progress: {
          text: 'Step 29 of 100',
          fraction: 0.29,
          rate: null,
          eta_seconds: 15,
          metrics: {},
          updated_at: Date.now() / 1000 - 60
        }
      })
    );
    const bar = screen.getByRole('progressbar');
    expect(bar.getAttribute('aria-valuetext')).toBe('Step 29 of 100');
    expect(screen.queryByText(/left, ends about/)).toBeNull();
  });

  it('shows what is on its way and offers nothing that would be refused', () => {
    const { buttons } = header(fullJob({ pending_action: 'stopping' }));
    expect(screen.getByText('Stopping…')).toBeTruthy();
    expect(buttons()).toEqual(['Clone', 'More actions']);
  });

  it('takes a later wish while one is on its way, and not the same once more', () => {
    const shown = (changes: Partial<Job>): (string | null)[] => {
      const { buttons, unmount } = header(fullJob(changes));
      const names = buttons().slice(0, -2); // Clone, More actions
      unmount();
      return names;
    };
    // asked for here, and not yet known to the server
    const running: Job['actions'] = ['pause', 'stop', 'rerun', 'delete'];
    expect(shown({ pending_action: 'pausing', actions: running })).toEqual([
      'Stop'
    ]);
    expect(
      shown({
        pending_action: 'pausing',
        actions: ['resume', 'stop', 'rerun', 'delete']
      })
    ).toEqual(['Resume', 'Stop']);
    expect(
      shown({ phase: 'Paused', pending_action: 'resuming', actions: running })
    ).toEqual(['Pause', 'Stop']);
    expect(
      shown({ pending_action: 'stopping', actions: ['rerun', 'delete'] })
    ).toEqual([]);
    expect(shown({ pending_action: 'deleting', actions: running })).toEqual([]);
  });

  it('takes the second click of a double click for none', () => {
    const { run } = header(
      fullJob({ pending_action: 'pausing', actions: ['resume', 'stop'] })
    );
    fireEvent.click(screen.getByText('Resume'), { detail: 2 });
    expect(run).not.toHaveBeenCalled();
    fireEvent.click(screen.getByText('Resume'), { detail: 1 });
    expect(run).toHaveBeenCalledWith(CommandIDs.resume);
  });

  it('offers to resume a paused job', () => {
    const { buttons, run } = header(
      fullJob({ phase: 'Paused', actions: ['resume', 'stop', 'delete'] })
    );
    expect(buttons().slice(0, 2)).toEqual(['Resume', 'Stop']);
    fireEvent.click(screen.getByText('Resume'));
    expect(run).toHaveBeenCalledWith(CommandIDs.resume);
  });

  it('names the failing rank, its code and its error, and leads to the log', () => {
    const { container, buttons, showFailure } = header(failedJob());
    expect(container.textContent).toContain('Rank 1 failed: ValueError: boom.');
    expect(container.textContent).toContain('Error (1)');
    fireEvent.click(screen.getByText('Show in log'));
    expect(showFailure).toHaveBeenCalled();
    expect(buttons()).toEqual(['Clone', 'Run again', 'Delete', 'More actions']);
  });

  it('stands still while nothing is heard of the job, and says so', () => {
    const { container } = header(fullJob({ running_since: 1000 }), false, 1221);
    expect(container.textContent).toMatch(
      /Running for 3 min 41 s \(as of \d\d:\d\d\) · /
    );
  });

  it('counts the time that it ran, not that it was paused', () => {
    const since = { started_at: 1000, ran_seconds: 200, running_since: 40000 };
    const running = header(fullJob(since), false, 40021);
    expect(running.container.textContent).toContain('Running for 3 min 41 s');
    const job = failedJob({ ...since, ended_at: 41000, running_since: null });
    const { container } = header(job);
    expect(container.textContent).toContain(' after 3 min 20 s · ');
  });

  it('does not say it twice where the failure is told below', () => {
    const { container } = header(failedJob(), true);
    expect(container.textContent).not.toContain('ValueError');
  });

  it('draws what a user stopped as neutral, with its hint', () => {
    const { container } = header(
      failedJob({
        state: 'Stopped',
        ended_by: 'user',
        failure: null,
        reason: {
          code: 'Stopped',
          sentence: 'Stopped by you after 38 s',
          hint: 'It can still be resumed',
          fix: null,
          verbatim: null,
          links: []
        }
      })
    );
    expect(screen.getByRole('img', { name: 'stopped' })).toBeTruthy();
    expect(container.textContent).toContain(
      'Stopped by you after 38 s. It can still be resumed.'
    );
    expect(container.querySelector('[data-failed]')).toBeNull();
  });

  it('drops the bar of a job that has succeeded', () => {
    header(
      fullJob({
        phase: 'Succeeded',
        ended_by: 'itself',
        ended_at: 1100,
        progress: {
          text: 'Epoch 10 of 10',
          fraction: 1,
          rate: null,
          eta_seconds: null,
          metrics: { accuracy: 0.99 },
          updated_at: 1100
        }
      })
    );
    expect(screen.queryByRole('progressbar')).toBeNull();
    expect(screen.getByRole('definition').textContent).toBe('0.99');
  });

  describe('in a cluster', () => {
    const inCluster = (changes: Partial<Job> = {}): Job =>
      fullJob({ engine: 't9k', namespace: 'demo', ...changes });

    it('says where it is and whose', () => {
      const job = inCluster({ mine: false, owner: 'lin' });
      const { container } = header(job, false, null, [someCluster()]);
      expect(container.textContent).toContain('T9k, namespace demo');
      expect(container.textContent).toContain('of lin');
    });

    it('greys what the account may not do, with the reason', () => {
      const reason = 'You may not change jobs in namespace demo.';
      const job = inCluster({
        actions: ['delete', 'rerun'],
        refused: { pause: reason, stop: reason }
      });
      const { buttons, run } = header(job, false, null, [someCluster()]);
      const stop = screen.getByRole('button', { name: 'Stop' });
      expect(stop.getAttribute('aria-disabled')).toBe('true');
      expect(stop.title).toBe(reason);
      const id = stop.getAttribute('aria-describedby') ?? '';
      expect(document.getElementById(id)?.textContent).toBe(reason);
      fireEvent.click(stop);
      expect(run).not.toHaveBeenCalled();
      expect(buttons()[0]).toContain('Pause');
    });

    it('resumes what was stopped', () => {
      const job = inCluster({
        phase: 'Failed',
        state: 'Stopped',
        ended_by: 'user',
        ended_at: 1042,
        actions: ['resume', 'delete', 'rerun']
      });
      const { run } = header(job, false, null, [someCluster()]);
      fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
      expect(run).toHaveBeenCalledWith(CommandIDs.resume);
    });

    it('links the platform’s TensorBoard where the lab has none', () => {
      header(inCluster({ tensorboard_url: '/t9k/tensorboards/x/' }));
      const link = screen.getByRole<HTMLAnchorElement>('link', {
        name: 'TensorBoard'
      });
      expect(link.href).toBe('http://localhost/t9k/tensorboards/x/');
      expect(link.target).toBe('_blank');
    });

    it('does not link a script', () => {
      header(inCluster({ tensorboard_url: 'javascript:alert(1)' }));
      expect(screen.queryByRole('link')).toBeNull();
    });
  });

  it('draws the curves of its metrics', () => {
    const curves: JobCurves = {
      of: 'step',
      curves: [
        { name: 'train/loss', x: [0, 10, 20], values: [3, 2, 1] },
        { name: 'accuracy', x: [0, 20], values: [0.1, 0.9] }
      ]
    };
    const job = fullJob();
    const progress = {
      text: 'Step 20',
      fraction: null,
      rate: null,
      eta_seconds: null,
      metrics: { loss: 1 },
      updated_at: 0
    };
    const { container, unmount } = header(
      { ...job, progress },
      false,
      null,
      someEngines(),
      curves
    );
    expect(container.querySelectorAll('.jp-t9k-Curve')).toHaveLength(1);
    expect(
      container.querySelector('.jp-t9k-Curve path')?.getAttribute('d')
    ).toBe('M2.0 2.0L66.0 12.0L130.0 22.0');
    unmount();
    const other = header(
      { ...job, progress: null },
      false,
      null,
      someEngines(),
      curves
    );
    expect(other.container.querySelector('dl')?.textContent).toBe(
      'train/loss1accuracy0.9'
    );
  });
});
