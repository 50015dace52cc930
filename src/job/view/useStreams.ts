/** Hook that reads the list of a job's log streams. */
import * as React from 'react';
import { Job, LogStream } from '../../api/types';
import { JobTabModel } from '../model/jobTab';

/** Shortest time between two requests, in ms. */
const LEAST = 3000;
/** Time between two requests for a running job that reports no progress, in ms. */
const SILENT = 10_000;

/**
 * Return a job's log streams with their sizes; null until they are known, or if they can't be read.
 *
 * They are requested when the overview becomes visible. While it is visible, they are requested again when the job
 * makes progress, and at intervals while the job runs.
 */
export function useStreams(
  model: JobTabModel,
  job: Job
): readonly LogStream[] | null {
  const [streams, setStreams] = React.useState<readonly LogStream[] | null>(
    null
  );
  const newest = React.useRef({ number: 0, time: -Infinity });
  const { isVisible } = model;
  const { api } = model.jobs;
  const { id, phase, attempt, progress } = job;
  const news = JSON.stringify([attempt, progress]);
  React.useEffect(() => {
    if (!isVisible) {
      return;
    }
    const read = (): void => {
      const number = newest.current.number + 1;
      newest.current = { number, time: performance.now() };
      api.logStreams(id).then(
        known => number === newest.current.number && setStreams(known),
        (error: unknown) => console.warn('t9kjob: sizes of logs:', error)
      );
    };
    const next = (): void => {
      if (!document.hidden) {
        read();
      }
      timer = phase === 'Running' ? window.setTimeout(next, SILENT) : 0;
    };
    const wait = newest.current.time + LEAST - performance.now();
    let timer = window.setTimeout(next, Math.max(0, wait));
    return () => window.clearTimeout(timer);
  }, [api, id, phase, news, isVisible]);
  return streams;
}
