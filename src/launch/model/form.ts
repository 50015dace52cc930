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

/** Field of “more arguments”. */
export const MORE = '/args';

/** Return true if an environment variable may have a name. */
export function isEnvName(name: string): boolean {
  return new RegExp(ENV_NAME_PATTERN).test(name);
}

/** Field of a replica's accelerators. */
export const DEVICE = '/replica_specs/0/resources/device';

/** Resource name of NVIDIA's GPUs in a cluster. */
export const GPU = 'nvidia.com/gpu';

/** Text of a field that is not valid in the specification, and the reason. */
export interface IDraft {
  text: string;
  problem: string;
}

/** A row of an editor of pairs. */
export interface IPair {
  name: string;
  value: string;
}

/** Everything that the user can change; `spec` is always well-formed. */
export interface ILaunchForm {
  /** The specification without its arguments, variables and labels, which have fields of their own here. */
  spec: JobSpec;
  /** Values of the script's options. */
  values: OptionValues;
  /** Further arguments as typed. */
  more: string;
  /** Words of the last text of “more arguments” that could be split. */
  moreWords: string[];
  /** Rows of the variables' editor; rows may be incomplete. */
  env: EnvVar[];
  /** Rows of the editors of labels; rows may be incomplete. */
  labels: IPair[];
  nodeSelector: IPair[];
  drafts: Readonly<Record<string, IDraft>>;
  /** The last valid name; directories contain it. */
  named: string;
  /** The same until a change, so that a double click creates one job. */
  requestId: string;
}

/** Return a new id of a request to create a job. */
export function newRequestId(): string {
  return UUID.uuid4();
}

/** Return a specification as a form. */
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

/** Return arguments as fields and free text. */
export function splitArgs(
  args: readonly string[],
  options: readonly ScriptOption[]
): Pick<ILaunchForm, 'values' | 'more' | 'moreWords'> {
  const { values, more } = parseArgs(args, options);
  return { values, more: joinWords(more), moreWords: more };
}

/** Return the specification that a form describes. */
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
      // A new row has no key yet; a toleration without a key tolerates every taint.
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

/** Return a form without a field's draft. */
export function withoutDraft(form: ILaunchForm, field: string): ILaunchForm {
  const drafts = Object.entries(form.drafts).filter(([key]) => key !== field);
  return { ...form, drafts: Object.fromEntries(drafts) };
}

/** Return the field of the form for a JSON pointer of the server: `/spec/args/3` is an option's field. */
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

/** Return a directory below `runs` (or an option's `=…`) with another job's name; any other value unchanged. */
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

/** Rename the job, and the directories that contain its name. */
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

/** Set an option's value; null sets its default. */
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

/** Change the working directory, and the log directories below it. */
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

/** Change the log directory that a script's option names, if TensorBoard reads that directory. */
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

/** Return a job's working directory; by default the folder of its script. */
function directoryOf({ working_dir, entrypoint }: JobSpec): string | null {
  return working_dir || folderOf(entrypoint.kind, entrypoint.value);
}

/** Return a path as a process in `directory` resolves it; null if there is no path or no directory. */
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

/** Return the kind of entrypoint of a file, by its name. */
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
 * Return the entrypoint of another kind for a file; a command is left to the user.
 *
 * @param path - The file's path in the contents API.
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

/** Set “more arguments”; while a quote is open, the words before stay valid. */
export function withMore(form: ILaunchForm, more: string): ILaunchForm {
  const { words } = splitWords(more);
  return { ...form, more, moreWords: words ?? form.moreWords };
}
