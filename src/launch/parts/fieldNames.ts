/** Names and positions of the launch form's fields. */
import { TranslationBundle } from '@jupyterlab/translation';
import {
  NOTEBOOK_CELLS_OPTION,
  NOTEBOOK_INSTALL_OPTION
} from '../../api/constants';

/** Groups of the form. */
export type GroupName =
  | 'what'
  | 'notebook'
  | 'code'
  | 'sweep'
  | 'size'
  | 'where'
  | 'data'
  | 'lifecycle'
  | 'tensorboard';

/** Folds within a group. */
export type FoldName = 'image' | 'placement' | 'security';

/** Position and name of a field. */
interface IFieldDescription {
  group: GroupName;
  /** The fold within the group; missing for a field outside of folds. */
  fold?: FoldName;
  /** The field's label. */
  name: string;
}

/**
 * Return the position and label of a field; null if the form does not show it.
 *
 * @param field - JSON pointer into the spec, or the flag of a script's option.
 */
export function describeField(
  field: string,
  trans: TranslationBundle
): IFieldDescription | null {
  if (field === NOTEBOOK_CELLS_OPTION) {
    return { group: 'notebook', name: trans.__('Code cells') };
  }
  if (field === NOTEBOOK_INSTALL_OPTION) {
    return { group: 'notebook', name: trans.__('Install step') };
  }
  if (!field.startsWith('/')) {
    return { group: 'what', name: field };
  }
  if (/^\/env(\/\d+\/(name|value|secret|key))?$/.test(field)) {
    return { group: 'what', name: trans.__('Environment') };
  }
  if (/^\/labels\b/.test(field)) {
    return { group: 'what', name: trans.__('Labels') };
  }
  if (/^\/mounts\b/.test(field)) {
    return { group: 'data', name: trans.__('Volumes') };
  }
  if (/^\/config_files\b/.test(field)) {
    return { group: 'data', name: trans.__('Config files') };
  }
  if (field === '/security/restricted') {
    return {
      group: 'where',
      fold: 'security',
      name: trans.__('Restricted standard')
    };
  }
  if (/^\/security\b/.test(field)) {
    return { group: 'where', fold: 'security', name: trans.__('User') };
  }
  const placement = placementName(field, trans);
  if (placement) {
    return { group: 'where', fold: 'placement', name: placement };
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
    case '/sweep/at_a_time':
      return { group: 'sweep', name: trans.__('At a time') };
    case '/sweep/on_failure':
      return { group: 'sweep', name: trans.__('When a job fails') };
    case '/sweep/rows_path':
      return { group: 'sweep', name: trans.__('File') };
    case '/sweep/rule':
      return { group: 'sweep', name: trans.__('Stop early') };
    case '/sweep/rule/metric':
      return { group: 'sweep', name: trans.__('Metric') };
    case '/sweep/rule/after':
      return { group: 'sweep', name: trans.__('From step') };
    case '/sweep/rule/least_jobs':
      return { group: 'sweep', name: trans.__('Other jobs') };
    case '/sweep/count':
    case '/sweep/seed':
    case '/sweep/fields':
    case '/sweep/left_out':
      return { group: 'sweep', name: trans.__('Combinations') };
    case '/working_dir':
      return { group: 'what', name: trans.__('Working directory') };
    case '/source':
      return { group: 'code', name: trans.__('Code') };
    case '/source/folder':
      return { group: 'code', name: trans.__('Folder') };
    case '/source/leave_out':
      return { group: 'code', name: trans.__('Left out') };
    case '/source/address':
      return { group: 'code', name: trans.__('Address') };
    case '/source/ref':
      return { group: 'code', name: trans.__('Branch or commit') };
    case '/source/secret':
      return { group: 'code', name: trans.__('Credentials') };
    case '/source/history':
      return { group: 'code', name: trans.__('Clone') };
    case '/namespace':
      return { group: 'where', name: trans.__('Namespace') };
    case '/runtime/image':
      return { group: 'where', name: trans.__('Image') };
    case '/runtime/training_runtime':
      return { group: 'where', name: trans.__('Training runtime') };
    case '/runtime/pull_policy':
      return { group: 'where', fold: 'image', name: trans.__('Pull') };
    case '/runtime/pull_secrets':
      return { group: 'where', fold: 'image', name: trans.__('Pull secrets') };
    case '/scheduling/queue':
      return { group: 'where', name: trans.__('Queue') };
    case '/scheduling/priority':
      return { group: 'where', name: trans.__('Priority') };
    case '/runtime/kernel':
      return { group: 'what', name: trans.__('Kernel') };
    case '/args':
      return { group: 'what', name: trans.__('More arguments') };
    case '/torchrun/proc_per_node':
      return { group: 'size', name: trans.__('Processes') };
    case '/torchrun/extra_options':
      return { group: 'size', name: trans.__('torchrun options') };
    case '/torchrun':
      return { group: 'size', name: trans.__('torchrun') };
    case '/replica_specs':
      return { group: 'size', name: trans.__('Replica types') };
    case '/replica_specs/0/replicas':
      return { group: 'size', name: trans.__('Nodes') };
    case '/replica_specs/0/resources/device':
    case '/replica_specs/0/resources/device/name':
      return { group: 'size', name: trans.__('GPUs') };
    case '/replica_specs/0/resources/cpu/request':
    case '/replica_specs/0/resources/cpu/limit':
      return { group: 'size', name: trans.__('CPU') };
    case '/replica_specs/0/resources/memory/request':
    case '/replica_specs/0/resources/memory/limit':
      return { group: 'size', name: trans.__('Memory') };
    case '/shm/size_limit':
      return { group: 'size', name: trans.__('Shared memory') };
    case '/elastic/min':
    case '/elastic/max':
    case '/elastic/expected':
      return { group: 'size', name: trans.__('Elastic') };
    case '/replica_specs/0/restart_policy':
    case '/run_policy/backoff_limit':
      return { group: 'lifecycle', name: trans.__('Restart') };
    case '/torchrun/max_restarts':
      return { group: 'lifecycle', name: trans.__('Worker restarts') };
    case '/run_policy/active_deadline_seconds':
      return { group: 'lifecycle', name: trans.__('Deadline') };
    case '/run_policy/resume_evicted':
      return { group: 'lifecycle', name: trans.__('After an eviction') };
    case '/run_policy/clean_up':
      return { group: 'lifecycle', name: trans.__('When finished') };
    case '/run_policy/ttl_seconds':
      return { group: 'lifecycle', name: trans.__('Delete after') };
    case '/keep_logs':
      return { group: 'lifecycle', name: trans.__('Logs') };
    case '/diagnostics':
      return { group: 'lifecycle', name: trans.__('Diagnostics') };
    case '/paused':
      return { group: 'lifecycle', name: trans.__('Start') };
    case '/tensorboard/cluster':
      return { group: 'tensorboard', name: trans.__('Also in the cluster') };
  }
  const [, type] = /^\/debug\/([^/]+)\/command$/.exec(field) ?? [];
  return type === undefined
    ? null
    : { group: 'lifecycle', name: trans.__('Command of %1', type) };
}

function placementName(field: string, trans: TranslationBundle): string | null {
  const [, part] = /^\/scheduling\/(\w+)/.exec(field) ?? [];
  switch (part) {
    case 'priority_class':
      return trans.__('Priority class');
    case 'node_selector':
      return trans.__('Nodes with');
    case 'tolerations':
      return trans.__('Tolerates');
    case 'scheduler':
      return trans.__('Scheduler');
    default:
      return null;
  }
}
