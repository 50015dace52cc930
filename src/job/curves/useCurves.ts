/** Hook that reads the curves of a job. */
import * as React from 'react';
import { Job, JobCurves } from '../../api/types';
import { JobTabModel } from '../model/jobTab';
import { CurvesClient } from './model';

/** Shortest time between two requests, in ms. */
const LEAST = 10_000;

/** Return a job's curves; null until they are known. A visible tab reads them again when the job makes progress. */
export function useCurves(model: JobTabModel, job: Job): JobCurves | null {
  const [curves, setCurves] = React.useState<JobCurves | null>(null);
  const read = React.useRef(-Infinity);
  const shown = React.useRef('');
  const asked = React.useRef(0);
  const answered = React.useRef(0);
  const { isVisible } = model;
  const { serverSettings } = model.jobs.api;
  const { id, phase, progress, log_dirs } = job;
  const reports =
    log_dirs.length > 0 || Object.keys(progress?.metrics ?? {}).length > 0;
  const news = `${phase} ${progress?.updated_at}`;
  React.useEffect(() => {
    shown.current = isVisible ? id : '';
    return () => {
      shown.current = '';
    };
  }, [id, isVisible]);
  React.useEffect(() => {
    if (!isVisible || !reports) {
      return;
    }
    const timer = window.setTimeout(
      () => {
        read.current = performance.now();
        const number = ++asked.current;
        new CurvesClient(serverSettings).curves(id).then(
          found => {
            // New progress does not make an answer useless; a later answer does.
            if (shown.current === id && number > answered.current) {
              answered.current = number;
              setCurves(found);
            }
          },
          (error: unknown) => console.warn('t9kjob: curves:', error)
        );
      },
      Math.max(0, read.current + LEAST - performance.now())
    );
    return () => window.clearTimeout(timer);
  }, [serverSettings, id, isVisible, reports, news]);
  return curves;
}
