/** Component for a job's name. */

import * as React from 'react';
import { JobSummary } from '../api/types';

/** A job's display name, followed by its unique name if the two differ. Runs of one file share a display name. */
export function JobName({
  job
}: {
  job: Pick<JobSummary, 'name' | 'display_name'>;
}): React.JSX.Element {
  const { name, display_name } = job;
  return display_name === null || display_name === name ? (
    <>{name}</>
  ) : (
    <>
      {display_name} <small className="jp-t9k-JobName">{name}</small>
    </>
  );
}
