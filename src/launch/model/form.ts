/** The content of a launch form: plain values, and what they amount to. */
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

/** What can be run. */
export type EntrypointKind = JobSpec['entrypoint']['kind'];

/** Where `more arguments` sit. */
export const MORE = '/args';

/** Return true if an environment variable may have a name. */
export function isEnvName(name: string): boolean {
  return new RegExp(ENV_NAME_PATTERN).test(name);
}

/** Where the accelerators of a replica sit. */
export const DEVICE = '/replica_specs/0/resources/device';

/** What whole GPUs of NVIDIA's are called in a cluster. */
export const GPU = 'nvidia.com/gpu';

/** What a field shows that can't be put into the spec, and why. */
export interface IDraft {
  text: string;
  problem: string;
}

/** A row of an editor of names and values. */
export interface IPair {
  name: string;
  value: string;
}

/** Everything that the user can change; the spec in it is always well-formed. */
export interface ILaunchForm {
  /** Without its arguments, variables and labels, which are below. */
  spec: JobSpec;
  /** Options of the script that are given. */
  values: OptionValues;
  /** Further arguments as typed. */
  more: string;
  /** The words of the last such text that could be split. */
  moreWords: string[];
  /** Rows of the variables' editor; some may be unfinished. */
  env: EnvVar[];
  /** Rows of the editors of labels; some may be unfinished. */
  labels: IPair[];
  nodeSelector: IPair[];
  drafts: Readonly<Record<string, IDraft>>;
  /** The name that is part of directories; the last valid one. */
  named: string;
  /** Stays while nothing is changed, so that a double click makes one job. */
  requestId: string;
}

/** A new id of a request to create a job. */
export function newRequestId(): string {
  return UUID.uuid4();
}

/** Lay a spec out as a form. */
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

/** Lay arguments out as fields and free text. */
export function splitArgs(
  args: readonly string[],
  options: readonly ScriptOption[]
): Pick<ILaunchForm, 'values' | 'more' | 'moreWords'> {
  const { values, more } = parseArgs(args, options);
  return { values, more: joinWords(more), moreWords: more };
}

/** The spec that a form amounts to. */
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
      // A new row has no key yet; without one it would tolerate everything.
      tolerations: spec.scheduling.tolerations.filter(row => row.key !== '')
    },
    mounts: spec.mounts.filter(isMount),
    tensorboard: {
      ...spec.tensorboard,
      log_dirs: spec.tensorboard.log_dirs.filter(dir => dir !== '')
    }
  };
}

/** Whether a row of the volumes' editor is finished. */
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

/** A field has a content again that can be put into the spec. */
export function withoutDraft(form: ILaunchForm, field: string): ILaunchForm {
  const drafts = Object.entries(form.drafts).filter(([key]) => key !== field);
  return { ...form, drafts: Object.fromEntries(drafts) };
}

/** The field that a JSON pointer of the server means: `/spec/args/3` is an option's. */
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

/** A directory that holds a job's name (alone or behind an option's `=`), with another name; any other value as it is. */
export function renamed(
  value: string,
  runs: string,
  from: string,
  to: string
): string {
  const parts = value.split(/([/=])/); // separators are at odd places
  const index = parts.findIndex(
    (part, i) => part === from && parts[i - 1] === '/' && parts[i - 2] === runs
  );
  return parts.map((part, i) => (i === index ? to : part)).join('');
}

/** Give the job another name; the directories that hold the name go along. */
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

/** Give an option a value, or its default (null). */
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

/** Run the job in another directory; event files that it writes below go along. */
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

/** TensorBoard looks where the script writes, as long as it did so before. */
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

/** The directory in which a job works: by default the folder of its script. */
function directoryOf({ working_dir, entrypoint }: JobSpec): string | null {
  return working_dir || folderOf(entrypoint.kind, entrypoint.value);
}

/** A path as a process in `directory` takes it; null if there is none, or the directory is not known. */
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

/** What is run when a file is: by its name. */
export function fileKind(path: string): 'script' | 'notebook' {
  return path.endsWith('.ipynb') ? 'notebook' : 'script';
}

/** The folder of a file that is run; null for what is no file, or has no absolute path. */
export function folderOf(kind: EntrypointKind, value: string): string | null {
  const isFile = kind === 'script' || kind === 'notebook';
  return isFile && value.startsWith('/')
    ? value.replace(/\/[^/]*$/, '') || '/'
    : null;
}

/**
 * The same file run in another way; for a command there is nothing to go by.
 *
 * @param path - As the contents API names it.
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
      // A module is looked for from the working directory on.
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

/** Take further arguments as typed; while a quote is open, what stood before stays in force. */
export function withMore(form: ILaunchForm, more: string): ILaunchForm {
  const { words } = splitWords(more);
  return { ...form, more, moreWords: words ?? form.moreWords };
}
