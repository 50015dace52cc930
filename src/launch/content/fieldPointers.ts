/** The form's fields for the fields that the server names. */
import { ScriptOption } from '../../api/types';
import { ILaunchForm, isEnvName, isMount, MORE } from './form';
import { NO_SWEEP, sweptKeys } from './sweep';
import { composeArgs } from './args/composeArgs';

/**
 * Return the form's field for a field that the server names.
 *
 * @param pointer - JSON pointer into the request, such as `/spec/args/3`, which may be an option's field.
 */
export function fieldOf(
  pointer: string,
  form: ILaunchForm,
  options: readonly ScriptOption[]
): string {
  const path = pointer.replace(/^\/spec(?=\/|$)/, '');
  const arg = /^\/args\/(\d+)$/.exec(path);
  if (arg) {
    const { fields } = composeArgs(options, form.values, form.moreWords);
    return fields[Number(arg[1])] ?? MORE;
  }
  const values = /^\/sweep\/fields\/(\d+)/.exec(path);
  if (values) {
    const keys = sweptKeys(form.sweep ?? NO_SWEEP, options);
    return keys[Number(values[1])] ?? '/sweep/fields';
  }
  const variable = /^\/env\/(\d+)(?:\/(\w+))?$/.exec(path);
  if (variable) {
    const rows = form.env
      .map((row, index) => ({ row, index }))
      .filter(({ row }) => isEnvName(row.name));
    const index = rows[Number(variable[1])]?.index ?? 0;
    return `/env/${index}/${variable[2] ?? 'name'}`;
  }
  const mount = /^\/mounts\/(\d+)(\/\w+)?$/.exec(path);
  if (mount) {
    const { mounts } = form.spec;
    const finished = mounts.filter(isMount);
    const index = mounts.indexOf(finished[Number(mount[1])]);
    return `/mounts/${Math.max(0, index)}${mount[2] ?? '/claim'}`;
  }
  const label = /^(\/labels|\/scheduling\/node_selector)\/(.+)$/.exec(path);
  if (label) {
    const rows = label[1] === '/labels' ? form.labels : form.nodeSelector;
    const name = label[2].replace(/~1/g, '/').replace(/~0/g, '~');
    const index = rows.findIndex(row => row.name === name);
    return `${label[1]}/${Math.max(0, index)}/name`;
  }
  switch (path) {
    case '/entrypoint':
      return '/entrypoint/value';
    case '/tensorboard':
    case '/tensorboard/log_dirs':
      return '/tensorboard/log_dirs/0';
    case '/torchrun':
      return '/torchrun/proc_per_node';
    case '/runtime':
      return '/runtime/kernel';
    case '/shm':
      return '/shm/size_limit';
    case '/security':
      return '/security/uid';
    case '/elastic':
      return '/elastic/min';
    case '/replica_specs/0/resources':
      return '/replica_specs/0/resources/cpu/limit';
    case '/replica_specs/0/resources/cpu':
    case '/replica_specs/0/resources/memory':
      return `${path}/limit`;
    case '/replica_specs/0/resources/device/name':
    case '/replica_specs/0/resources/device/count':
      return '/replica_specs/0/resources/device';
  }
  return path
    .replace(/^(\/torchrun\/extra_options)\/\d+$/, '$1')
    .replace(/^(\/runtime\/pull_secrets)\/\d+$/, '$1')
    .replace(/^(\/scheduling\/tolerations\/\d+)(\/\w+)?$/, '$1')
    .replace(/^(\/debug\/[^/]+)\/.*$/, '$1/command')
    .replace(/^\/debug(\/[^/]+)?$/, '/paused')
    .replace(/^(\/tensorboard\/cluster)\/.*$/, '$1');
}
