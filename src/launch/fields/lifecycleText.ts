/** What the choices of the group Lifecycle mean; engines differ in it. */
import { TranslationBundle } from '@jupyterlab/translation';
import { EngineName } from '../../api/aliases';
import { JobSpec } from '../../api/types';
import { formatSpan } from '../../common/durationInput';

export type RestartPolicy = JobSpec['replica_specs'][number]['restart_policy'];
export type CleanUp = JobSpec['run_policy']['clean_up'];

/** What a restart policy does on an engine. */
export function describePolicy(
  policy: RestartPolicy,
  torchrun: boolean,
  engine: EngineName,
  trans: TranslationBundle
): string {
  if (policy === 'Never') {
    return trans.__('A replica that fails is not restarted.');
  }
  if (policy === 'ExitCode') {
    const codes = {
      local: trans.__(
        'Codes of the system (such as 137 and 143) restart it, those of the script end it.'
      ),
      t9k: trans.__(
        'The codes 130, 137, 138 and 143 restart a replica, others end the job.'
      ),
      kubeflow: trans.__(
        'Codes of 128 and more restart a replica (on T9k only 130, 137, 138 and 143), others end the job.'
      )
    }[engine];
    return torchrun
      ? trans.__(
          '%1 With torchrun on, a replica’s code is torchrun’s own, 1 for every failure; the script’s is seen with torchrun off only.',
          codes
        )
      : codes;
  }
  switch (engine) {
    case 'local':
      return torchrun
        ? trans.__('All nodes start again together, and that counts as one.')
        : trans.__('Counted over all nodes.');
    case 't9k':
      return trans.__('Counted over all replicas together.');
    case 'kubeflow':
      return trans.__(
        'Only the replica that failed starts again. The operator counts what it sees of running pods, so there may be more.'
      );
  }
}

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
