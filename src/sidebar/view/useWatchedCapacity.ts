/** React hook that subscribes to the cluster's capacity. */

import * as React from 'react';
import { IJobsModel } from '../../tokens';

/** Subscribe to the cluster's capacity while `shown` is true. */
export function useWatchedCapacity(
  jobs: Pick<IJobsModel, 'watchCapacity'>,
  shown: boolean
): void {
  React.useEffect(() => {
    if (shown) {
      const watch = jobs.watchCapacity();
      return () => watch.dispose();
    }
    return undefined;
  }, [jobs, shown]);
}
