/** Pauses between repetitions of work, proportional to the duration of the work. */

/** Duration of a pause as a multiple of the duration of the work. */
const SHARE = 2;

/**
 * Return how long to pause after work, in ms, so that changes during the pause are handled together.
 *
 * A single change is handled at once. During many changes, most of the time stays free for other work.
 *
 * @param took - Duration of the work in ms.
 * @param longest - The maximum pause in ms.
 */
export function restAfter(took: number, longest: number): number {
  return Math.min(longest, SHARE * took);
}
