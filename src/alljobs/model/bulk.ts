/** Actions on a selection: the part of the selection that an action applies to. */
import { JobActions, JobSummary } from '../../api/types';
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

/**
 * Return the requests for an action on jobs. Of jobs that are deleted already, deletion removes the records, since
 * nothing else of them is left.
 *
 * @param remove - True if deletion removes the records and logs of all jobs.
 * @param most - Most jobs of a request.
 */
export function requestsOf(
  action: BulkKind,
  jobs: readonly JobSummary[],
  remove: boolean,
  most: number
): JobActions[] {
  const requests: JobActions[] = [];
  const add = (name: JobActions['action'], some: readonly JobSummary[]) => {
    for (let at = 0; at < some.length; at += most) {
      const ids = some.slice(at, at + most).map(({ id }) => id);
      requests.push({ action: name, ids, remove });
    }
  };
  const isGone = (job: JobSummary): boolean =>
    action === 'delete' && job.deleted;
  add(
    action,
    jobs.filter(job => !isGone(job))
  );
  add('remove', jobs.filter(isGone));
  return requests;
}
