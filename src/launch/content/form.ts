/** The content of a launch form as plain values, and the specification that they describe. */
import { CodeSource } from '../../api/aliases';
import { JSONExt, UUID } from '@lumino/coreutils';
import { ENV_NAME_PATTERN } from '../../api/constants';
import { EnvVar, JobSpec, ScriptOption } from '../../api/types';
import { composeArgs } from './args/composeArgs';
import { parseArgs } from './args/parseArgs';
import { optionKey, OptionValues } from './scriptOptions';
import { ISweepForm } from './sweep';
import { joinWords, splitWords } from '../../common/shellWords';

/** Name of the field “More arguments”. */
export const MORE = '/args';

/** Fields other than those of options and of the sweep that the form has at each engine. */
const COMMON_FIELDS = ['/name', '/entrypoint/value'];

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
  /** Several values of options; missing in tabs that older versions saved. */
  sweep?: ISweepForm;
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

/** Return the form with other arguments. A text of “More arguments” whose quote is open stays if its words do. */
export function withArgs(
  form: ILaunchForm,
  args: readonly string[],
  options: readonly ScriptOption[]
): ILaunchForm {
  const split = splitArgs(args, options);
  const isOpen =
    splitWords(form.more).words === null &&
    JSONExt.deepEqual(split.moreWords, form.moreWords);
  return { ...form, ...split, ...(isOpen && { more: form.more }) };
}

/**
 * Return the form that shows a specification at another engine.
 *
 * It keeps what the specification can't contain and each engine has: the sweep, and invalid texts of the name, the
 * entrypoint and the arguments.
 *
 * @param before - The form at the engine that it comes from.
 */
export function movedForm(
  before: ILaunchForm,
  spec: JobSpec,
  options: readonly ScriptOption[]
): ILaunchForm {
  const { more, moreWords, sweep } = before;
  const common = new Set([...COMMON_FIELDS, ...options.map(optionKey)]);
  const drafts = Object.entries(before.drafts).filter(
    ([field]) => common.has(field) || field.startsWith('/sweep/')
  );
  const form = { ...formOf(spec, options), more, moreWords };
  return {
    ...withArgs(form, spec.args, options),
    drafts: Object.fromEntries(drafts),
    sweep
  };
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
    config_files: configFilesOf(spec).filter(({ path }) => path !== ''),
    source: spec.source && untaken(spec.source),
    tensorboard: {
      ...spec.tensorboard,
      log_dirs: spec.tensorboard.log_dirs.filter(dir => dir !== '')
    }
  };
}

/** Return a source as a form submits it: a new snapshot, never the copy of an earlier job; but the same commit. */
function untaken(source: CodeSource): CodeSource {
  return source.kind === 'git'
    ? { ...source, path: null, image: null }
    : { ...source, taken: null };
}

/** Return true if a row of the volumes' editor is complete. */
export function isMount({
  claim,
  mount_path
}: JobSpec['mounts'][number]): boolean {
  return claim !== '' && mount_path !== '';
}

/** A config file. */
export type ConfigFile = JobSpec['config_files'][number];

/** Return the config files of a spec; specs in tabs that older versions saved have none. */
export function configFilesOf(spec: JobSpec): ConfigFile[] {
  return spec.config_files ?? [];
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

/** Return the form with another text of “More arguments”. While a quote is open, the last valid words are kept. */
export function withMore(form: ILaunchForm, more: string): ILaunchForm {
  const { words } = splitWords(more);
  return { ...form, more, moreWords: words ?? form.moreWords };
}
