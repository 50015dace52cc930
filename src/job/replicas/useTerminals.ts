/** Terminals that can be opened in a job. */
import * as React from 'react';
import { ApiClient } from '../../api/client';
import { Job, TerminalList } from '../../api/types';

/**
 * Return where terminals can be opened in a job; null until that is known. It is read again when the job or its
 * replicas start or end, when the job makes its first progress, and when the replicas are shown: in a cluster, the ranks
 * are known as soon as they write logs.
 */
export function useTerminals(
  api: ApiClient,
  { id, phase, replicas_running, attempt, progress }: Job,
  isShown: boolean
): TerminalList | null {
  const [terminals, setTerminals] = React.useState<TerminalList | null>(null);
  React.useEffect(() => {
    let isCurrent = true;
    api.terminals(id).then(
      found => isCurrent && setTerminals(found),
      error => console.warn('t9kjob: terminals of a job:', error)
    );
    return () => {
      isCurrent = false;
    };
  }, [api, id, phase, replicas_running, attempt, progress === null, isShown]);
  return terminals;
}
