import * as React from 'react';
import { JobSummary } from '../api/types';

/** A job's name for people, and behind it its own where that tells it from other runs of the same file. */
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
