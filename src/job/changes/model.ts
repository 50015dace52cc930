/** Differences between a job and the job that it was cloned from. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JSONExt, ReadonlyJSONValue } from '@lumino/coreutils';
import { Job, JobSpec } from '../../api/types';
import { optionsOf } from '../../common/options';
import { formatMemory } from '../../common/format';

/** A value that differs. */
export interface IChange {
  name: string;
  /** True if the name is an option of the script or a path of the spec. */
  isCode: boolean;
  /** Value of the original; null if it has none. */
  before: string | null;
  now: string | null;
}

/** Parts of a spec that are compared as arguments, or that always differ. */
const OTHER = new Set([
  'name',
  'display_name',
  'args',
  'annotations',
  'labels',
  'paused',
  'sweep'
]);

/**
 * Return the arguments and fields with other values than in the original.
 *
 * The name of a job may be a part of its values, such as the log directory. Such values count as equal.
 */
export function changesOf(
  original: Job,
  job: Job,
  trans: TranslationBundle
): IChange[] {
  const word = (number: number): string => trans.__('argument %1', number);
  const [args, argsNow] = [original, job].map(({ spec }) =>
    optionsOf(spec.args, word)
  );
  const [fields, fieldsNow] = [original, job].map(({ spec }) => fieldsOf(spec));
  // A job of an earlier version that asked for no kernel does not say which one ran it.
  const isUnknown = (
    key: string,
    ...of: readonly Record<string, string>[]
  ): boolean =>
    key === 'runtime.kernel' &&
    original.engine === job.engine &&
    of.some(values => !(key in values));
  const rows = (
    before: Record<string, string>,
    now: Record<string, string>,
    nameOf: (key: string) => Pick<IChange, 'name' | 'isCode'>
  ): IChange[] =>
    [...new Set([...Object.keys(before), ...Object.keys(now)])]
      .filter(
        key =>
          !isUnknown(key, before, now) &&
          before[key] !== now[key] &&
          before[key]?.split(original.name).join('\0') !==
            now[key]?.split(job.name).join('\0')
      )
      .map(key => ({
        ...nameOf(key),
        before: before[key] ?? null,
        now: now[key] ?? null
      }));
  return [
    ...(original.engine !== job.engine
      ? [
          {
            name: trans.__('Engine'),
            isCode: false,
            before: original.engine,
            now: job.engine
          }
        ]
      : []),
    ...rows(args, argsNow, name => ({ name, isCode: name.startsWith('-') })),
    ...rows(fields, fieldsNow, key => {
      const known = fieldName(key, trans);
      return { name: known ?? key, isCode: known === null };
    })
  ];
}

/** Return the values of a spec by the paths of its fields; variables by their names. */
function fieldsOf(spec: JobSpec): Record<string, string> {
  const found: Record<string, string> = {};
  const put = (path: string, value: ReadonlyJSONValue | undefined): void => {
    if (value === null || value === undefined) {
      return;
    }
    if (JSONExt.isPrimitive(value)) {
      found[path] =
        /\.memory\./.test(path) && typeof value === 'number'
          ? formatMemory(value)
          : String(value);
    } else if (JSONExt.isArray(value)) {
      value.forEach((item, at) => put(`${path}[${at}]`, item));
    } else {
      Object.entries(value).forEach(([key, item]) =>
        put(path ? `${path}.${key}` : key, item)
      );
    }
  };
  const { env, ...rest } = spec;
  Object.entries(rest)
    .filter(([key]) => !OTHER.has(key))
    .forEach(([key, value]) => put(key, value as ReadonlyJSONValue));
  env.forEach(({ name, value, secret }) => {
    found[`env ${name}`] =
      value ?? (secret ? `${secret.name}/${secret.key}` : '');
  });
  return found;
}

/** Return the name of a field; null for a rare one. */
function fieldName(path: string, trans: TranslationBundle): string | null {
  const names: [RegExp, string][] = [
    [/^entrypoint\.value$/, trans.__('Entrypoint')],
    [/^entrypoint\.kind$/, trans.__('Kind of entrypoint')],
    [/^working_dir$/, trans.__('Working directory')],
    [/^runtime\.image$/, trans.__('Image')],
    [/^runtime\.kernel$/, trans.__('Kernel')],
    [/^torchrun\.proc_per_node$/, trans.__('Processes per node')],
    [/^torchrun\.max_restarts$/, trans.__('Worker restarts')],
    [/^run_policy\.backoff_limit$/, trans.__('Restarts')],
    [/^run_policy\.active_deadline_seconds$/, trans.__('Deadline in seconds')],
    [/^scheduling\.queue$/, trans.__('Queue')],
    [/^scheduling\.priority$/, trans.__('Priority')],
    [/^source\.(commit\.id|taken\.digest)$/, trans.__('Code')],
    [/^replica_specs\[0\]\.replicas$/, trans.__('Replicas')],
    [/^replica_specs\[0\]\.restart_policy$/, trans.__('Restart policy')],
    [
      /^replica_specs\[0\]\.resources\.device\.count$/,
      trans.__('GPUs of a node')
    ],
    [/^replica_specs\[0\]\.resources\.device\.name$/, trans.__('GPU type')],
    [
      /^replica_specs\[0\]\.resources\.cpu\.limit$/,
      trans.__('CPU limit of a node')
    ],
    [
      /^replica_specs\[0\]\.resources\.cpu\.request$/,
      trans.__('CPU request of a node')
    ],
    [
      /^replica_specs\[0\]\.resources\.memory\.limit$/,
      trans.__('Memory limit of a node')
    ],
    [
      /^replica_specs\[0\]\.resources\.memory\.request$/,
      trans.__('Memory request of a node')
    ]
  ];
  const variable = /^env (.*)$/.exec(path);
  return variable
    ? trans.__('Variable %1', variable[1])
    : (names.find(([pattern]) => pattern.test(path))?.[1] ?? null);
}
