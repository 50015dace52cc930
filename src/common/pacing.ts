/** Waits that leave the page time for more urgent work. */

/** The longest wait for an idle browser, in ms. Browsers report no idle time to a hidden page. */
const LONGEST_WAIT = 2000;

/** Duration of a pause as a multiple of the duration of the work before it. */
const SHARE = 2;

/** Resolve when the browser is idle, after 2 s at the latest. */
export function whenIdle(): Promise<void> {
  return new Promise(resolve => {
    // Safari lacks requestIdleCallback.
    if (typeof window.requestIdleCallback === 'function') {
      window.requestIdleCallback(() => resolve(), { timeout: LONGEST_WAIT });
    } else {
      window.setTimeout(resolve, 200);
    }
  });
}

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
