/** Hook that reads and takes the stacks of a job. */
import * as React from 'react';
import { ApiError, expectApiError } from '../../api/errors';
import { Job, StackList } from '../../api/types';
import { JobTabModel } from '../model/jobTab';

/** State of the stacks of a job. */
export interface IStacks {
  /** The kept stacks; null until they were read. */
  list: StackList | null;
  /** Error of the last request. */
  error: ApiError | null;
  /** True while stacks are being taken. */
  taking: boolean;
  take(native: boolean): void;
}

/** Return the stacks of a job. They are read when the pane is visible and the job's state changes. */
export function useStacks(model: JobTabModel, job: Job): IStacks {
  const [list, setList] = React.useState<StackList | null>(null);
  const [error, setError] = React.useState<ApiError | null>(null);
  const [readError, setReadError] = React.useState<ApiError | null>(null);
  const [taking, setTaking] = React.useState(false);
  const { isVisible } = model;
  const { api } = model.jobs;
  const { id } = job;
  const reads = React.useRef(0);
  const read = React.useCallback(async () => {
    const number = ++reads.current;
    const found = await api.stacks(id);
    // An answer of an earlier request may come later.
    if (number === reads.current) {
      setList(found);
    }
  }, [api, id]);
  const news = JSON.stringify([job.phase, job.replicas_running, job.stalled]);
  React.useEffect(() => {
    if (isVisible) {
      read().then(
        () => setReadError(null),
        (problem: unknown) => setReadError(expectApiError(problem))
      );
    }
  }, [read, news, isVisible]);
  const take = (native: boolean): void => {
    setTaking(true);
    setError(null);
    api
      .takeStacks(id, native)
      .then(read)
      .catch((problem: unknown) => setError(expectApiError(problem)))
      .finally(() => setTaking(false));
  };
  return { list, error: error ?? readError, taking, take };
}
