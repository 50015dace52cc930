import * as React from 'react';
import { IJobsModel } from '../../tokens';

/** Have the server tell what of the cluster is free, as long as `shown` holds. */
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
