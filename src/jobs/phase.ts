/** Functions for the phases, states and pending actions of jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Action, JobState, PendingAction } from '../api/aliases';
import { ACTIVE_PHASES } from '../api/constants';
import { JobSummary, Stall } from '../api/types';

const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_PHASES);

type WithState = Pick<JobSummary, 'state' | 'pending_action'>;

/** Return the state that selects a job's icon, colour and word. */
export function stateOf(job: WithState): Exclude<JobState, 'stalled'> {
  return job.pending_action === 'submitting'
    ? 'submitting'
    : (job.state.toLowerCase() as Lowercase<JobSummary['state']>);
}

/** Return the state that selects a job's icon in lists: that of `stateOf`, or a warning if the job makes no progress. */
export function iconStateOf(
  job: WithState & Pick<JobSummary, 'phase' | 'stalled'>
): JobState {
  return isStalled(job) ? 'stalled' : stateOf(job);
}

/** Return true if a running job makes no progress, and no action is pending that would end it. */
export function isStalled<
  T extends Pick<JobSummary, 'phase' | 'pending_action' | 'stalled'>
>(job: T): job is T & { stalled: Stall } {
  return (
    job.phase === 'Running' && job.pending_action === null && !!job.stalled
  );
}

/** Return true if a job may still run; a job in the phase Unknown counts as finished. */
export function isActive(job: Pick<JobSummary, 'phase'>): boolean {
  return ACTIVE.has(job.phase);
}

/** Actions that can be requested while another action is pending; the later request replaces the earlier one. */
const LATER: Record<PendingAction, readonly Action[]> = {
  submitting: [],
  pausing: ['resume', 'stop', 'rerun', 'delete'],
  resuming: ['pause', 'stop', 'rerun', 'delete'],
  stopping: ['rerun', 'delete'],
  deleting: ['rerun']
};

/** Return true if a job's pending action does not exclude an action. */
export function isOpenTo(
  job: Pick<JobSummary, 'pending_action'>,
  action: Action
): boolean {
  return (
    job.pending_action === null || LATER[job.pending_action].includes(action)
  );
}

/** Return true if an action can be requested for a job now. */
export function canAsk(
  job: Pick<JobSummary, 'actions' | 'pending_action'>,
  action: Action
): boolean {
  return job.actions.includes(action) && isOpenTo(job, action);
}

/** Return a state as one word. */
export function stateWord(state: JobState, trans: TranslationBundle): string {
  switch (state) {
    case 'submitting':
      return trans.__('submitting');
    case 'pending':
      return trans.__('pending');
    case 'running':
      return trans.__('running');
    case 'stalled':
      return trans.__('running without progress');
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

/** Return a number of jobs in a state: “4 running”. */
export function countText(
  count: number,
  state: JobState,
  trans: TranslationBundle
): string {
  return trans._p(
    'number of jobs, state',
    '%1 %2',
    count,
    stateWord(state, trans)
  );
}

/** Return the label of a pending action: “Stopping…”. */
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

/**
 * Return true if a job's row has a progress bar. Paused and resuming jobs have none, because their
 * processes start again.
 */
export function hasBar(job: JobSummary): boolean {
  return job.phase === 'Running' && job.progress?.fraction != null;
}
