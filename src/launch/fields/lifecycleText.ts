/** What the choices of the group Lifecycle mean; engines differ in it. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobSpec } from '../../api/types';
import { formatSpan } from '../../common/durationInput';

export type RestartPolicy = JobSpec['replica_specs'][number]['restart_policy'];
export type CleanUp = JobSpec['run_policy']['clean_up'];

/** What is left in the cluster when a job has ended. */
export function describeCleanUp(
  cleanUp: CleanUp,
  trans: TranslationBundle
): string {
  switch (cleanUp) {
    case 'None':
      return trans.__('Keep the pods (None)');
    case 'Unfinished':
      return trans.__('End the pods that still run (Unfinished)');
    case 'All':
      return trans.__('Remove all pods (All)');
  }
}

/** What a failure, the end, and the start are like, on one line. */
export function describeLifecycle(
  spec: JobSpec,
  isCluster: boolean,
  trans: TranslationBundle
): string {
  const { run_policy, replica_specs, paused, debug } = spec;
  const limit = run_policy.backoff_limit;
  const deadline = run_policy.active_deadline_seconds;
  const kept = {
    None: trans.__('keeps the pods'),
    Unfinished: trans.__('keeps finished pods'),
    All: trans.__('removes the pods')
  }[run_policy.clean_up];
  return [
    replica_specs[0].restart_policy === 'Never'
      ? trans.__('No restarts')
      : trans._n('At most %1 restart', 'At most %1 restarts', limit),
    deadline === null
      ? trans.__('no deadline')
      : trans.__('ends after %1', formatSpan(deadline)),
    isCluster ? kept : trans.__('files and logs stay'),
    ...(paused ? [trans.__('starts paused')] : []),
    ...(debug ? [trans.__('debug mode')] : [])
  ].join(' · ');
}
