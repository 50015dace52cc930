/** Amounts of a job that are computed from its times: GPU-hours, waiting time, duration. */
import { JobSummary } from '../../api/types';
import { isStalled } from '../../jobs/phase';
import { ranSeconds } from '../../jobs/runtime';

const HOUR = 3600;

/** Return the number of GPUs that a job requests; null if it requests none. */
export function gpusOf({ devices }: JobSummary): number | null {
  return devices?.count || null;
}

/**
 * Return the GPU-hours of a job with those of its running attempt, which the server does not count. Null for a job
 * without GPUs, and for one that has not run.
 *
 * @param now - Seconds since the epoch.
 */
export function gpuHours(job: JobSummary, now: number): number | null {
  const { gpu_hours, started_at, running_since } = job;
  if (gpu_hours === null || started_at === null) {
    return null;
  }
  const seconds = running_since === null ? 0 : Math.max(0, now - running_since);
  return gpu_hours + ((gpusOf(job) ?? 0) * seconds) / HOUR;
}

/**
 * Return the running time of a job in seconds, without pauses; null if it has not run.
 *
 * @param now - Seconds since the epoch.
 */
export function durationOf(job: JobSummary, now: number): number | null {
  return job.started_at === null ? null : Math.max(0, ranSeconds(job, now));
}

/**
 * Return the time from the submission to the first running replica in seconds; up to now for a job that still waits.
 * Null for a job that ended without a start.
 *
 * @param now - Seconds since the epoch.
 */
export function waitedOf(job: JobSummary, now: number): number | null {
  const { created_at, started_at, phase } = job;
  if (started_at !== null) {
    return Math.max(0, started_at - created_at);
  }
  return phase === 'Pending' ? Math.max(0, now - created_at) : null;
}

/** Return true if the state of a job needs attention: it is unknown, or the job makes no progress. */
export function isProblem(job: JobSummary): boolean {
  return job.phase === 'Unknown' || isStalled(job);
}

/**
 * Return the sum of the GPU-hours of jobs; null if no job has GPU-hours.
 *
 * @param now - Seconds since the epoch.
 */
export function sumOfHours(
  jobs: readonly JobSummary[],
  now: number
): number | null {
  let sum: number | null = null;
  for (const job of jobs) {
    const hours = gpuHours(job, now);
    sum = hours === null ? sum : (sum ?? 0) + hours;
  }
  return sum;
}
