/** Galata's own waits, with the limit of the tests' other waits: 15 seconds are too few for a loaded machine. */
import * as utils from '@jupyterlab/galata/lib/utils';

/** Longest wait for an event that a test expects, in ms. */
export const PATIENCE = 240_000;

async function waitForCondition(
  condition: () => boolean | Promise<boolean>,
  timeout = PATIENCE
): Promise<void> {
  const end = Date.now() + timeout;
  for (;;) {
    // The page may be loading, which ends what is evaluated in it.
    const reached = await Promise.resolve()
      .then(condition)
      .catch((error: unknown) => {
        if (Date.now() > end) {
          throw error;
        }
        return false;
      });
    if (reached) {
      return;
    }
    if (Date.now() > end) {
      throw new Error(`The condition did not hold within ${timeout} ms.`);
    }
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

Object.assign(utils, { waitForCondition });
