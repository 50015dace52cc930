/** What the account may not do to jobs in a cluster, and why. */
import { Action } from '../api/aliases';
import { EngineInfo, JobSummary } from '../api/types';
import { isActive } from './phase';

const NEEDS: Partial<Record<Action, string>> = {
  pause: 'change_jobs',
  resume: 'change_jobs',
  stop: 'change_jobs',
  delete: 'delete_jobs',
  rerun: 'create_jobs'
};

/**
 * Why something can't be done to a job that could be in its phase; null if it can, or does not apply.
 *
 * The rights that an engine tells are those in its default namespace.
 */
export function refusalOf(
  job: JobSummary,
  action: Action,
  engines: readonly EngineInfo[]
): string | null {
  if (
    job.actions.includes(action) ||
    job.read_only !== null ||
    job.deleted ||
    !applies(job, action)
  ) {
    return null;
  }
  const engine = engines.find(({ name }) => name === job.engine);
  if (!engine?.cluster) {
    return null;
  }
  const right =
    job.namespace === engine.default_namespace
      ? engine.cluster.rights[NEEDS[action] ?? '']
      : undefined;
  if (right && !right.supported) {
    return right.reason;
  }
  const { pause } = engine.capabilities;
  return pause && !pause.supported && NEEDS[action] === 'change_jobs'
    ? pause.reason
    : null;
}

/** Whether an action makes sense in a job's phase. */
function applies(job: JobSummary, action: Action): boolean {
  switch (action) {
    case 'pause':
      return isActive(job) && job.phase !== 'Paused';
    case 'stop':
      return isActive(job);
    case 'resume':
      return job.phase === 'Paused';
    default:
      return action in NEEDS;
  }
}
