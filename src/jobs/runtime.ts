/** Running time of a job. */

import { JobSummary } from '../api/types';
import { serverNow } from '../common/clock';

/**
 * Return the running time of a job in seconds: the sum of all attempts, without the pauses between them.
 *
 * @param job - The job.
 * @param now - Time at which the job's state is known to be current, in seconds.
 */
export function ranSeconds(
  { ran_seconds, running_since }: JobSummary,
  now = serverNow()
): number {
  return ran_seconds + (running_since === null ? 0 : now - running_since);
}
