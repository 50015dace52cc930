/** What is done again at every change rests so many times as long as it took. */
const SHARE = 2;

/**
 * How long to rest after work that took so long, so that what changes meanwhile is done in one (ms).
 *
 * A change that comes alone waits for nobody, and many of them leave most of the time to others.
 */
export function restAfter(took: number, longest: number): number {
  return Math.min(longest, SHARE * took);
}
