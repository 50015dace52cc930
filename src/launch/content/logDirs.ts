/** Edits of the launch form that move log directories: name, options and working directory. */
import { JobSpec, Prefill, ScriptOption } from '../../api/types';
import { baseName } from '../../common/contentsPath';
import { joinWords } from '../../common/shellWords';
import { folderOf } from './entrypoints';
import { ILaunchForm } from './form';
import { defaultValue, optionKey, OptionValue } from './scriptOptions';

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
  if (!option.roles.includes('events')) {
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
    if (option.roles.includes('events')) {
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

/** Return a job's working directory: by default the folder of its file; null for the image's, which is not known. */
function directoryOf({ working_dir, entrypoint }: JobSpec): string | null {
  return working_dir === null
    ? folderOf(entrypoint.kind, entrypoint.value)
    : working_dir || null;
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
