import { TranslationBundle } from '@jupyterlab/translation';
import { Action, JobState, PendingAction } from '../api/aliases';
import { ACTIVE_PHASES } from '../api/constants';
import { JobSummary } from '../api/types';

const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_PHASES);

type WithPhase = Pick<JobSummary, 'phase' | 'ended_by' | 'pending_action'>;

/** Which icon, colour and word a job has. */
export function stateOf(job: WithPhase): JobState {
  if (job.pending_action === 'submitting') {
    return 'submitting';
  }
  if (job.phase === 'Failed' && job.ended_by === 'user') {
    return 'stopped';
  }
  return job.phase.toLowerCase() as JobState;
}

/** Whether a job may still run; one that was not heard of counts with the finished. */
export function isActive(job: Pick<JobSummary, 'phase'>): boolean {
  return ACTIVE.has(job.phase);
}

/** What may be asked of a job while something else is on its way: the later wish counts. */
const LATER: Record<PendingAction, readonly Action[]> = {
  submitting: [],
  pausing: ['resume', 'stop', 'rerun', 'delete'],
  resuming: ['pause', 'stop', 'rerun', 'delete'],
  stopping: ['rerun', 'delete'],
  deleting: ['rerun']
};

/** Whether what is on its way to a job leaves room for an action. */
export function isOpenTo(
  job: Pick<JobSummary, 'pending_action'>,
  action: Action
): boolean {
  return (
    job.pending_action === null || LATER[job.pending_action].includes(action)
  );
}

/** Whether an action can be asked of a job now. */
export function canAsk(
  job: Pick<JobSummary, 'actions' | 'pending_action'>,
  action: Action
): boolean {
  return job.actions.includes(action) && isOpenTo(job, action);
}

/** A state in one word. */
export function stateWord(state: JobState, trans: TranslationBundle): string {
  switch (state) {
    case 'submitting':
      return trans.__('submitting');
    case 'pending':
      return trans.__('pending');
    case 'running':
      return trans.__('running');
    case 'resuming':
      return trans.__('resuming');
    case 'paused':
      return trans.__('paused');
    case 'succeeded':
      return trans.__('succeeded');
    case 'failed':
      return trans.__('failed');
    case 'stopped':
      return trans.__('stopped');
    case 'unknown':
      return trans.__('unknown');
  }
}

/** What is on its way: “Stopping…”. */
export function pendingText(
  action: PendingAction,
  trans: TranslationBundle
): string {
  switch (action) {
    case 'submitting':
      return trans.__('Submitting…');
    case 'stopping':
      return trans.__('Stopping…');
    case 'pausing':
      return trans.__('Pausing…');
    case 'resuming':
      return trans.__('Resuming…');
    case 'deleting':
      return trans.__('Deleting…');
  }
}
