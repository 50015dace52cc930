import * as React from 'react';
import { Job, LogStream } from '../../api/types';
import { JobTabModel } from '../../model/jobTab';

/**
 * The job's log streams with their sizes, read when the overview is shown and at every change of
 * the job's state; null until they are known, or where they can't be told.
 */
export function useStreams(
  model: JobTabModel,
  job: Job
): readonly LogStream[] | null {
  const [streams, setStreams] = React.useState<readonly LogStream[] | null>(
    null
  );
  const { api } = model.jobs;
  React.useEffect(() => {
    let wanted = true;
    api.logStreams(job.id).then(
      known => wanted && setStreams(known),
      (error: unknown) => console.warn('t9kjob: sizes of logs:', error)
    );
    return () => {
      wanted = false;
    };
  }, [api, job.id, job.phase, job.attempt]);
  return streams;
}
