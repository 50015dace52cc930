/** The content of a launch form as plain values, and the specification that they describe. */
import { UUID } from '@lumino/coreutils';
import { ENV_NAME_PATTERN, LOG_OPTIONS } from '../../api/constants';
import { EnvVar, JobSpec, Prefill, ScriptOption } from '../../api/types';
import { baseName } from '../../common/contentsPath';
import {
  composeArgs,
  defaultValue,
  optionKey,
  OptionValue,
  OptionValues,
  parseArgs
} from './scriptOptions';
import { joinWords, splitWords } from '../../common/shellWords';

/** Kinds of entrypoints. */
export type EntrypointKind = JobSpec['entrypoint']['kind'];

/** Name of the field “More arguments”. */
export const MORE = '/args';

/** Return true if a name is valid for an environment variable. */
export function isEnvName(name: string): boolean {
  return new RegExp(ENV_NAME_PATTERN).test(name);
}

/** Name of the field of a replica's accelerators. */
export const DEVICE = '/replica_specs/0/resources/device';

/** Resource name of NVIDIA's GPUs in a cluster. */
export const GPU = 'nvidia.com/gpu';

/** Text that a field shows although the specification can't contain it, and the reason. */
export interface IDraft {
  text: string;
  /** The reason, shown below the field. */
  problem: string;
}

/** A row of an editor of name–value pairs. */
export interface IPair {
  name: string;
  value: string;
}

/** Everything that the user can edit. `spec` is well-formed at any time. */
export interface ILaunchForm {
  /**
   * The specification. Its arguments, variables, labels and node selector are out of date; the fields below replace
   * them.
   */
  spec: JobSpec;
  /** Values of the script's options, by `optionKey`. */
  values: OptionValues;
  /** Text of the field “More arguments”. */
  more: string;
  /** Words of the last text of “More arguments” whose quotes were closed. */
  moreWords: string[];
  /** Rows of the editor of environment variables, including incomplete rows. */
  env: EnvVar[];
  /** Rows of the editor of labels, including incomplete rows. */
  labels: IPair[];
  /** Rows of the editor of node labels, including incomplete rows. */
  nodeSelector: IPair[];
  /** Invalid texts, by field. */
  drafts: Readonly<Record<string, IDraft>>;
  /** The last valid name of the job; log directories contain it. */
  named: string;
  /** Id of the request to create the job. It changes with every edit, so a double click creates one job. */
  requestId: string;
}

/** Return a new id of a request to create a job. */
export function newRequestId(): string {
  return UUID.uuid4();
}

/** Return the form that shows a specification. */
export function formOf(
  spec: JobSpec,
  options: readonly ScriptOption[]
): ILaunchForm {
  return {
    spec,
    ...splitArgs(spec.args, options),
    env: spec.env,
    labels: pairsOf(spec.labels),
    nodeSelector: pairsOf(spec.scheduling.node_selector),
    drafts: {},
    named: spec.name,
    requestId: newRequestId()
  };
}

/** Split arguments into values of the script's options and further arguments. */
export function splitArgs(
  args: readonly string[],
  options: readonly ScriptOption[]
): Pick<ILaunchForm, 'values' | 'more' | 'moreWords'> {
  const { values, more } = parseArgs(args, options);
  return { values, more: joinWords(more), moreWords: more };
}

/** Return the specification that a form describes, without incomplete rows. */
export function specOf(
  form: ILaunchForm,
  options: readonly ScriptOption[]
): JobSpec {
  const { spec } = form;
  return {
    ...spec,
    args: composeArgs(options, form.values, form.moreWords).args,
    env: form.env.filter(row => isEnvName(row.name)),
    labels: recordOf(form.labels),
    scheduling: {
      ...spec.scheduling,
      node_selector: recordOf(form.nodeSelector),
      // A new row has no key yet. Kubernetes takes a toleration without a key for a toleration of every taint.
      tolerations: spec.scheduling.tolerations.filter(row => row.key !== '')
    },
    mounts: spec.mounts.filter(isMount),
    tensorboard: {
      ...spec.tensorboard,
      log_dirs: spec.tensorboard.log_dirs.filter(dir => dir !== '')
    }
  };
}

/** Return true if a row of the volumes' editor is complete. */
export function isMount({
  claim,
  mount_path
}: JobSpec['mounts'][number]): boolean {
  return claim !== '' && mount_path !== '';
}

function pairsOf(record: Record<string, string>): IPair[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}

function recordOf(pairs: readonly IPair[]): Record<string, string> {
  return Object.fromEntries(
    pairs.filter(({ name }) => name).map(({ name, value }) => [name, value])
  );
}

/** Return the form without a field's invalid text. */
export function withoutDraft(form: ILaunchForm, field: string): ILaunchForm {
  const drafts = Object.entries(form.drafts).filter(([key]) => key !== field);
  return { ...form, drafts: Object.fromEntries(drafts) };
}

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
    .replace(/^\/debug\b.*$/, '/paused')
    .replace(/^(\/tensorboard\/cluster)\/.*$/, '$1');
}

/**
 * Return a directory in the runs directory with the job's new name; any other value unchanged.
 *
 * @param value - A path, or an argument that contains one after `=`.
 * @param runs - Base name of the runs directory.
 * @param from - The job's old name.
 * @param to - The job's new name.
 */
export function renamed(
  value: string,
  runs: string,
  from: string,
  to: string
): string {
  const parts = value.split(/([/=])/); // separators have odd indexes
  const index = parts.findIndex(
    (part, i) => part === from && parts[i - 1] === '/' && parts[i - 2] === runs
  );
  return parts.map((part, i) => (i === index ? to : part)).join('');
}

/** Return the form with a new name of the job. Directories that contain the name are renamed as well. */
export function withName(
  form: ILaunchForm,
  name: string,
  prefill: Prefill
): ILaunchForm {
  const runs = baseName(prefill.runs_dir ?? '') || 'runs';
  const rename = (value: string) => renamed(value, runs, form.named, name);
  const values = { ...form.values };
  for (const key of prefill.follow_name) {
    const value = values[key];
    if (typeof value === 'string') {
      values[key] = rename(value);
    }
  }
  const { tensorboard } = form.spec;
  const moreWords = form.moreWords.map(rename);
  const isMoved = moreWords.some((word, i) => word !== form.moreWords[i]);
  return {
    ...form,
    more: isMoved ? joinWords(moreWords) : form.more,
    moreWords,
    spec: {
      ...form.spec,
      name,
      tensorboard: {
        ...tensorboard,
        log_dirs: tensorboard.log_dirs.map(rename)
      }
    },
    values,
    named: name
  };
}

/**
 * Return the form with another value of an option. TensorBoard's log directory follows an option for it.
 *
 * @param value - The new value; null for the option's default.
 */
export function withOption(
  form: ILaunchForm,
  option: ScriptOption,
  value: OptionValue | null
): ILaunchForm {
  const key = optionKey(option);
  const { [key]: before, ...values } = form.values;
  const isGiven = value !== null && value !== '';
  const next = {
    ...form,
    values: isGiven ? { ...values, [key]: value } : values
  };
  if (!LOG_OPTIONS.includes(option.dest)) {
    return next;
  }
  const text = (given: OptionValue | undefined) =>
    String(given ?? defaultValue(option) ?? '');
  const directory = directoryOf(form.spec);
  return moveLogDirs(
    next,
    [text(before), directory],
    [text(next.values[key]), directory]
  );
}

/** Return the form with another working directory. Relative log directories of TensorBoard move with it. */
export function withWorkingDir(
  form: ILaunchForm,
  directory: string | null,
  options: readonly ScriptOption[]
): ILaunchForm {
  let next = { ...form, spec: { ...form.spec, working_dir: directory } };
  for (const option of options) {
    if (LOG_OPTIONS.includes(option.dest)) {
      const value = String(
        form.values[optionKey(option)] ?? option.default ?? ''
      );
      next = moveLogDirs(
        next,
        [value, directoryOf(form.spec)],
        [value, directoryOf(next.spec)]
      );
    }
  }
  return next;
}

/** Replace TensorBoard's log directory that a script's option names; other log directories stay. */
function moveLogDirs(
  form: ILaunchForm,
  from: [value: string, workingDir: string | null],
  to: [value: string, workingDir: string | null]
): ILaunchForm {
  const { tensorboard } = form.spec;
  const [before, after] = [resolve(...from), resolve(...to)];
  if (!before || !after || !tensorboard.log_dirs.includes(before)) {
    return form;
  }
  const log_dirs = tensorboard.log_dirs.map(dir =>
    dir === before ? after : dir
  );
  return {
    ...form,
    spec: { ...form.spec, tensorboard: { ...tensorboard, log_dirs } }
  };
}

/** Return a job's working directory; the default is the folder of its file. */
function directoryOf({ working_dir, entrypoint }: JobSpec): string | null {
  return working_dir || folderOf(entrypoint.kind, entrypoint.value);
}

/** Return the absolute path for a path in a directory; null if the path is empty or the directory is not known. */
function resolve(value: string, directory: string | null): string | null {
  if (!value) {
    return null;
  }
  const path = value.replace(/^\.\//, '').replace(/(.)\/+$/, '$1');
  if (path.startsWith('/')) {
    return path;
  }
  return directory?.startsWith('/')
    ? `${directory.replace(/\/$/, '')}/${path}`
    : null;
}

/** Return the kind of entrypoint for a file, by its extension. */
export function fileKind(path: string): 'script' | 'notebook' {
  return path.endsWith('.ipynb') ? 'notebook' : 'script';
}

/** Return the folder of an entrypoint; null if it is not a file with an absolute path. */
export function folderOf(kind: EntrypointKind, value: string): string | null {
  const isFile = kind === 'script' || kind === 'notebook';
  return isFile && value.startsWith('/')
    ? value.replace(/\/[^/]*$/, '') || '/'
    : null;
}

/**
 * Return the value and working directory of an entrypoint of another kind for a file. A command is empty.
 *
 * @param path - Path of the file in the contents API.
 * @param root - Absolute path of the contents root.
 */
export function asKind(
  kind: EntrypointKind,
  path: string,
  root: string
): Pick<JobSpec, 'working_dir'> & { value: string } {
  const base = root.replace(/\/$/, '');
  switch (kind) {
    case 'command':
      return { value: '', working_dir: root };
    case 'module':
      // Python looks for a module in the working directory.
      return {
        value: path.replace(/\.[^./]+$/, '').replace(/\//g, '.'),
        working_dir: root
      };
    default: {
      const file = `${base}/${path}`;
      return { value: file, working_dir: file.replace(/\/[^/]*$/, '') };
    }
  }
}

/** Return the form with another text of “More arguments”. While a quote is open, the last valid words are kept. */
export function withMore(form: ILaunchForm, more: string): ILaunchForm {
  const { words } = splitWords(more);
  return { ...form, more, moreWords: words ?? form.moreWords };
}
