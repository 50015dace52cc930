/** Order of the jobs of a sweep. */
import { JobSummary } from '../api/types';

/**
 * Compare two jobs of a sweep by their numbers, as `Array.sort` wants it. A job that continues another one has its
 * number, and follows it.
 */
export function compareMembers(one: JobSummary, other: JobSummary): number {
  const [a, b] = [one.sweep, other.sweep];
  return a && b
    ? a.number - b.number ||
        a.round - b.round ||
        one.created_at - other.created_at
    : 0;
}
