import { JobSummary } from '../api/types';
import { serverNow } from '../common/clock';

/**
 * How long a job has run, in seconds: all its attempts together, without the pauses between them.
 *
 * @param now - When that is known to be so, in seconds.
 */
export function ranSeconds(
  { ran_seconds, running_since }: JobSummary,
  now = serverNow()
): number {
  return ran_seconds + (running_since === null ? 0 : now - running_since);
}
