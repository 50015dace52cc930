import { TranslationBundle } from '@jupyterlab/translation';

/** Parts of the form that fold. */
export type GroupName =
  'what' | 'notebook' | 'size' | 'lifecycle' | 'tensorboard';

/**
 * Where the form shows a field, and how it calls it; null if it does not show it.
 * Fields are JSON pointers into the spec; those of the script's options are their spellings.
 */
export function placeOf(
  field: string,
  trans: TranslationBundle
): { group: GroupName; name: string } | null {
  if (!field.startsWith('/')) {
    return { group: 'what', name: field };
  }
  if (/^\/env\/\d+\/(name|value)$/.test(field)) {
    return { group: 'what', name: trans.__('Environment') };
  }
  if (/^\/tensorboard\/log_dirs\/\d+$/.test(field)) {
    return { group: 'tensorboard', name: trans.__('Log directory') };
  }
  switch (field) {
    case '/name':
      return { group: 'what', name: trans.__('Name') };
    case '/entrypoint/kind':
    case '/entrypoint/value':
      return { group: 'what', name: trans.__('Entrypoint') };
    case '/working_dir':
      return { group: 'what', name: trans.__('Working directory') };
    case '/runtime/kernel':
      return { group: 'what', name: trans.__('Kernel') };
    case '/args':
      return { group: 'what', name: trans.__('More arguments') };
    case '/torchrun/proc_per_node':
      return { group: 'size', name: trans.__('Processes') };
    case '/torchrun/extra_options':
      return { group: 'size', name: trans.__('torchrun options') };
    case '/replica_specs/0/replicas':
      return { group: 'size', name: trans.__('Nodes') };
    case '/replica_specs/0/resources/device':
      return { group: 'size', name: trans.__('GPUs') };
    case '/replica_specs/0/restart_policy':
    case '/run_policy/backoff_limit':
      return { group: 'lifecycle', name: trans.__('Restart') };
    case '/torchrun/max_restarts':
      return { group: 'lifecycle', name: trans.__('Worker restarts') };
    case '/run_policy/active_deadline_seconds':
      return { group: 'lifecycle', name: trans.__('Deadline') };
    case '/paused':
      return { group: 'lifecycle', name: trans.__('Start') };
  }
  return null;
}
