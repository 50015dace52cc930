/** Presets of the launch form: the values that a preset has, and how the form describes them. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobSpec, Preset } from '../../api/types';
import { formatSpan } from '../../common/durationInput';

/** Parts of the form that a preset can have. */
export type PresetGroup =
  | 'size'
  | 'image'
  | 'placement'
  | 'volumes'
  | 'environment'
  | 'lifecycle'
  | 'options';

/** Fields of each part, as JSON pointers into the spec. Options are arguments, which a preset has beside its values. */
const POINTERS: Record<PresetGroup, readonly string[]> = {
  size: [
    '/torchrun',
    '/replica_specs/0/replicas',
    '/replica_specs/0/resources',
    '/shm',
    '/elastic'
  ],
  image: ['/runtime'],
  placement: ['/scheduling'],
  volumes: ['/mounts', '/config_files'],
  environment: ['/env'],
  lifecycle: [
    '/run_policy',
    '/replica_specs/0/restart_policy',
    '/keep_logs',
    '/diagnostics'
  ],
  options: []
};

/** All parts, in the order of the form. */
export const PRESET_GROUPS = Object.keys(POINTERS) as PresetGroup[];

/** Values of a preset by JSON pointer, and its arguments. */
export interface IPresetContent {
  values: Record<string, unknown>;
  args: string[] | null;
}

/** Return the value of an object at a JSON pointer; undefined if there is none. */
export function valueAt(from: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map(part => part.replace(/~1/g, '/').replace(/~0/g, '~'))
    .reduce<unknown>(
      (at, key) =>
        typeof at === 'object' && at !== null
          ? (at as Record<string, unknown>)[key]
          : undefined,
      from
    );
}

/**
 * Return the content of a preset with the values of a spec.
 *
 * @param groups - Parts of the form that the preset has.
 * @param args - Arguments without those that contain the job's name.
 */
export function presetOf(
  spec: JobSpec,
  groups: ReadonlySet<PresetGroup>,
  args: string[]
): IPresetContent {
  const pointers = PRESET_GROUPS.filter(group => groups.has(group)).flatMap(
    group => POINTERS[group]
  );
  return {
    values: Object.fromEntries(
      pointers.map(pointer => [pointer, valueAt(spec, pointer) ?? null])
    ),
    args: groups.has('options') ? args : null
  };
}

/** Return the label of a part of the form. */
export function groupLabel(
  group: PresetGroup,
  trans: TranslationBundle
): string {
  return {
    size: trans._p('job', 'Size'),
    image: trans.__('Image or kernel'),
    placement: trans.__('Queue and nodes'),
    volumes: trans.__('Volumes'),
    environment: trans.__('Environment'),
    lifecycle: trans.__('Lifecycle'),
    options: trans.__('Options of the script')
  }[group];
}

/** Return a one-line summary of the values of a preset, such as “4 nodes × 8 GPUs · queue default”. */
export function describePreset(
  { values, args }: IPresetContent,
  trans: TranslationBundle
): string {
  const read = (pointer: string): unknown => {
    const own = Object.keys(values).find(
      key => pointer === key || pointer.startsWith(`${key}/`)
    );
    return own === undefined
      ? undefined
      : valueAt(values[own], pointer.slice(own.length));
  };
  const resources = '/replica_specs/0/resources';
  const [nodes, gpus] = [
    read('/replica_specs/0/replicas'),
    read(`${resources}/device/count`)
  ];
  const [image, kernel, queue] = [
    read('/runtime/image'),
    read('/runtime/kernel'),
    read('/scheduling/queue')
  ];
  const memory = read(`${resources}/memory/limit`);
  const deadline = read('/run_policy/active_deadline_seconds');
  const [env, mounts] = [read('/env'), read('/mounts')];
  const parts = [
    typeof nodes === 'number' && trans._n('%1 node', '%1 nodes', nodes),
    typeof gpus === 'number' &&
      gpus > 0 &&
      trans._n('%1 GPU on each node', '%1 GPUs on each node', gpus),
    typeof memory === 'string' && trans.__('memory %1', memory),
    typeof image === 'string' && trans.__('image %1', image),
    typeof kernel === 'string' && trans.__('kernel %1', kernel),
    typeof queue === 'string' && trans.__('queue %1', queue),
    typeof deadline === 'number' &&
      trans.__('ends after %1', formatSpan(deadline)),
    Array.isArray(env) &&
      env.length > 0 &&
      trans._n('%1 variable', '%1 variables', env.length),
    Array.isArray(mounts) &&
      mounts.length > 0 &&
      trans._n('%1 volume', '%1 volumes', mounts.length),
    args?.length ? trans._n('%1 argument', '%1 arguments', args.length) : null
  ].filter(Boolean);
  const count = Object.keys(values).length;
  return parts.length
    ? parts.join(' · ')
    : trans._n('%1 field', '%1 fields', count);
}

/** Return the text of a value of the spec, for “was …”. */
export function describeValue(
  value: unknown,
  field: string,
  trans: TranslationBundle
): string {
  if (value === null || value === undefined || value === '') {
    return trans.__('not set');
  }
  if (typeof value === 'boolean') {
    return value ? trans.__('on') : trans.__('off');
  }
  if (typeof value === 'number') {
    return /seconds$/.test(field) ? formatSpan(value) : String(value);
  }
  if (Array.isArray(value)) {
    return value.length
      ? trans._n('%1 entry', '%1 entries', value.length)
      : trans.__('none');
  }
  if (typeof value === 'object') {
    const { count, name } = value as { count?: unknown; name?: unknown };
    const text = count ?? name; // of devices, of a training runtime
    return typeof text === 'number' || typeof text === 'string'
      ? String(text)
      : trans.__('other values');
  }
  return String(value);
}

/** Return the images of presets. */
export function imagesOf(presets: readonly Preset[]): string[] {
  return presets
    .map(
      ({ values }) =>
        values['/runtime/image'] ?? valueAt(values['/runtime'], '/image')
    )
    .filter((image): image is string => typeof image === 'string');
}
