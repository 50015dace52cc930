/** Work that waits until the page has nothing more urgent to do. */

/** The longest wait, in ms. Browsers report no idle time to a hidden page. */
const LONGEST_WAIT = 2000;

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
