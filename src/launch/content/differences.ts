/** Differences of the launch form from the job that it was cloned from. */
import { JobSpec, ScriptOption } from '../../api/types';
import { isEqual } from '../../common/memo';
import { MORE, splitArgs } from './form';
import { valueAt } from './presets';
import { optionKey } from './scriptOptions';

/** Fields that are compared. The name and the log directories are always different. */
const COMPARED: readonly string[] = [
  '/entrypoint/value',
  '/working_dir',
  '/env',
  '/labels',
  '/source',
  '/torchrun/proc_per_node',
  '/torchrun/extra_options',
  '/torchrun/max_restarts',
  '/replica_specs/0/replicas',
  '/replica_specs/0/resources/device',
  '/replica_specs/0/resources/cpu/limit',
  '/replica_specs/0/resources/cpu/request',
  '/replica_specs/0/resources/memory/limit',
  '/replica_specs/0/resources/memory/request',
  '/replica_specs/0/restart_policy',
  '/shm/size_limit',
  '/elastic/min',
  '/elastic/max',
  '/runtime/image',
  '/runtime/kernel',
  '/runtime/pull_policy',
  '/runtime/pull_secrets',
  '/runtime/training_runtime',
  '/scheduling/queue',
  '/scheduling/priority',
  '/scheduling/priority_class',
  '/scheduling/node_selector',
  '/scheduling/tolerations',
  '/scheduling/scheduler',
  '/security/uid',
  '/mounts',
  '/config_files',
  '/run_policy/backoff_limit',
  '/run_policy/active_deadline_seconds',
  '/run_policy/resume_evicted',
  '/run_policy/clean_up',
  '/run_policy/ttl_seconds',
  '/keep_logs',
  '/diagnostics',
  '/paused'
];

/** Parts of the spec that can be off: null. */
const OPTIONAL = ['/torchrun', '/shm', '/elastic'];

/** Return the pointer at which a field differs: its part of the spec if that is on in one and off in the other. */
export function changedPointer(
  spec: JobSpec,
  original: JobSpec,
  field: string
): string {
  const part = OPTIONAL.find(at => field.startsWith(`${at}/`));
  const isOff = [spec, original].map(
    from => part !== undefined && (valueAt(from, part) ?? null) === null
  );
  return part !== undefined && isOff[0] !== isOff[1] ? part : field;
}

/** Return true if a field has another value than in the original. */
export function isDifferent(
  spec: JobSpec,
  original: JobSpec,
  field: string
): boolean {
  return (
    COMPARED.includes(field) &&
    (!isEqual(valueAt(spec, field) ?? null, valueAt(original, field) ?? null) ||
      (field === '/shm/size_limit' &&
        changedPointer(spec, original, field) !== field))
  );
}

/** A job, the one that it was cloned from, and the options of the script. */
interface ICompared {
  spec: JobSpec;
  original: JobSpec;
  options: readonly ScriptOption[];
}

/** Return the fields and options that have other values than in the original. */
export function differentValues({
  spec,
  original,
  options
}: ICompared): readonly string[] {
  const [now, before] = [spec, original].map(({ args }) =>
    splitArgs(args, options)
  );
  const changed = options
    .map(optionKey)
    .filter(key => now.values[key] !== before.values[key]);
  return [
    ...COMPARED.filter(field => isDifferent(spec, original, field)),
    ...changed,
    ...(now.more === before.more ? [] : [MORE])
  ];
}
