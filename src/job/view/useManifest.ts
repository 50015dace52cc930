/** Hook that reads a job's manifest. */
import * as React from 'react';
import { ApiError, expectApiError } from '../../api/errors';
import { Job, ManifestView } from '../../api/types';
import { JobTabModel } from '../model/jobTab';

/** Shortest time between two requests, in ms. */
const LEAST = 2000;

/**
 * Return a job's manifest. It is requested when it becomes visible, and again when the job changes while it is visible.
 *
 * @returns The last manifest that was read, and the error of a later request.
 */
export function useManifest(
  model: JobTabModel,
  job: Job
): { manifest: ManifestView | null; error: ApiError | null } {
  const [manifest, setManifest] = React.useState<ManifestView | null>(null);
  const [error, setError] = React.useState<ApiError | null>(null);
  const newest = React.useRef({ number: 0, time: -Infinity });
  const { isVisible } = model;
  const { api } = model.jobs;
  const { id, phase, reason, pending_action, replicas_running } = job;
  const news = JSON.stringify([
    phase,
    reason?.code,
    pending_action,
    replicas_running
  ]);
  React.useEffect(() => {
    if (!isVisible) {
      return;
    }
    const read = (): void => {
      const number = newest.current.number + 1;
      newest.current = { number, time: performance.now() };
      api.manifest(id).then(
        known => {
          if (number === newest.current.number) {
            setManifest(known);
            setError(null);
          }
        },
        (problem: unknown) =>
          number === newest.current.number && setError(expectApiError(problem))
      );
    };
    const wait = newest.current.time + LEAST - performance.now();
    const timer = window.setTimeout(read, Math.max(0, wait));
    return () => window.clearTimeout(timer);
  }, [api, id, news, isVisible]);
  return { manifest, error };
}
