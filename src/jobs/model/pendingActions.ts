/** Actions that were requested in this page and whose effect the server has not pushed yet. */

import { Action, PendingAction } from '../../api/aliases';
import { JobSummary } from '../../api/types';
import { isActive } from '../phase';

/** The pending state of each action that has one. */
const PENDING: Partial<Record<Action, PendingAction>> = {
  stop: 'stopping',
  pause: 'pausing',
  resume: 'resuming',
  delete: 'deleting',
  remove: 'deleting'
};

/** An action that was requested in this page; each request has its own object. */
export interface IPending {
  readonly id: string;
  readonly action: PendingAction;
}

/** Actions that this page has requested, until the server pushes their effect. */
export class PendingActions {
  /** @param _changed - Called with the id of a job whose pending action changes by `begin` or `end`. */
  constructor(private readonly _changed: (id: string) => void) {}

  /** Record a requested action. Return null for an action that has no pending state, such as `rerun`. */
  begin(id: string, action: Action): IPending | null {
    const asked = PENDING[action];
    if (asked === undefined) {
      return null;
    }
    const pending = { id, action: asked };
    this._pending.set(id, pending);
    this._changed(id);
    return pending;
  }

  /** Remove an action, unless a newer one of the same job has replaced it. */
  end(pending: IPending | null): void {
    if (pending && this._pending.get(pending.id) === pending) {
      this._pending.delete(pending.id);
      this._changed(pending.id);
    }
  }

  /** Remove the action of a job if the pushed state shows it as pending or done. */
  onPushed(job: JobSummary): void {
    const pending = this._pending.get(job.id);
    if (
      pending &&
      (job.pending_action === pending.action ||
        hasHappened(pending.action, job))
    ) {
      this._pending.delete(job.id);
    }
  }

  /** Forget the actions of jobs that have left the list: their records may still be there, with actions of their own. */
  onRemoved(ids: readonly string[]): void {
    ids.forEach(id => this._pending.delete(id));
  }

  /** Return the job with the action that is pending in this page; the server may not know it yet. */
  applyTo(job: JobSummary): JobSummary {
    const pending_action =
      this._pending.get(job.id)?.action ?? job.pending_action;
    return pending_action ? { ...job, pending_action } : job;
  }

  private readonly _pending = new Map<string, IPending>();
}

/** Return true if a job has reached the state that an action leads to. */
function hasHappened(action: PendingAction, job: JobSummary): boolean {
  switch (action) {
    case 'pausing':
      return (
        (job.phase === 'Paused' && job.pending_action === null) ||
        !isActive(job)
      );
    case 'resuming':
      return (
        isActive(job) && job.phase !== 'Paused' && job.pending_action === null
      );
    case 'stopping':
      return !isActive(job);
    case 'deleting':
      return job.deleted;
    default:
      return false;
  }
}
