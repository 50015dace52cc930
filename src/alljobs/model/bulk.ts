/** Actions on a selection: the part of the selection that an action applies to. */
import { JobSummary } from '../../api/types';
import { canAsk, isActive } from '../../jobs/phase';

/** Actions on many jobs. */
export type BulkKind = 'stop' | 'pause' | 'resume' | 'delete';

/** Return the jobs of a selection that an action applies to. Deletion leaves active jobs alone. */
export function partOf(
  jobs: readonly JobSummary[],
  action: BulkKind
): JobSummary[] {
  return jobs.filter(job =>
    action === 'delete'
      ? !isActive(job) &&
        (canAsk(job, 'delete') || (job.deleted && canAsk(job, 'remove')))
      : canAsk(job, action)
  );
}

/**
 * Return the jobs that ended before a time and can be deleted.
 *
 * @param time - Seconds since the epoch.
 */
export function endedBefore(
  jobs: readonly JobSummary[],
  time: number
): JobSummary[] {
  return partOf(jobs, 'delete').filter(
    ({ ended_at, created_at }) => (ended_at ?? created_at) < time
  );
}
