/** Texts of the form's group “Lifecycle”. */
import { TranslationBundle } from '@jupyterlab/translation';
import { EngineFacts, JobSpec } from '../../api/types';
import { formatSpan } from '../../common/durationInput';

/** Restart policies of a replica. */
export type RestartPolicy = JobSpec['replica_specs'][number]['restart_policy'];
/** Values of the clean-up policy: the pods that are removed when a job ends. */
export type CleanUp = JobSpec['run_policy']['clean_up'];

/** Return the label of a clean-up policy. */
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

/**
 * Return a one-line summary of a job's lifecycle: restarts, deadline, clean-up, paused start and debug mode.
 *
 * @param facts - Facts of the engine; they decide which parts apply.
 */
export function describeLifecycle(
  spec: JobSpec,
  facts: EngineFacts,
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
    ...(facts.has_pods ? [kept] : []),
    ...(facts.has_pods && run_policy.resume_evicted
      ? [trans.__('continues after an eviction')]
      : []),
    ...(facts.runs_on_lab_machine && facts.outlives_server
      ? [trans.__('files and logs stay')]
      : []),
    ...(paused ? [trans.__('starts paused')] : []),
    ...(debug ? [trans.__('debug mode')] : [])
  ].join(' · ');
}
