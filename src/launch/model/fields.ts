/** Edits of the launch form's fields. */
import {
  EnvVar,
  Fix,
  JobSpec,
  Pool,
  ReplicaSpec,
  ScriptOption
} from '../../api/types';
import { isNamespace } from '../../cluster/model/locations';
import {
  DEVICE,
  formOf,
  IDraft,
  ILaunchForm,
  IPair,
  MORE,
  splitArgs,
  withMore,
  withoutDraft
} from '../content/form';
import { withName, withOption, withWorkingDir } from '../content/logDirs';
import { optionKey, OptionValue } from '../content/scriptOptions';
import { firstValue, ISweepForm } from '../content/sweep';
import { fixingLock } from '../content/locks';
import { changedPointer, differentValues } from '../content/differences';
import { valueAt } from '../content/presets';
import { specWith } from '../content/specChanges';
import { withDeviceKind } from './capacity';
import { LaunchFormState } from './formState';
import { nameProblem } from './problems';
import { memoized } from '../../common/memo';

const NO_FIELDS: readonly string[] = [];

/** Adds the edits of single fields to the launch form. A frozen form ignores them. */
export abstract class LaunchFields extends LaunchFormState {
  /**
   * Change fields of the spec and remove the invalid text of a field.
   *
   * @param field - Name of the edited field.
   */
  edit(changes: Partial<JobSpec>, field: string): void {
    const spec = { ...this.form.spec, ...changes };
    this._enter(withoutDraft({ ...this.form, spec }, field), field);
  }

  /** The job from which the form was cloned; null if it was filled from something else, or moved to another engine. */
  get original(): JobSpec | null {
    const { original, clone, engine } = this.state;
    return (clone?.engine ?? engine) === engine ? original : null;
  }

  /** Fields and options whose values differ from those of the cloned job. */
  get differences(): readonly string[] {
    const { original, scriptOptions: options } = this;
    return original && this.state.form
      ? this._differencesOf({ spec: this.spec, original, options })
      : NO_FIELDS;
  }

  /** Return the value that an option has in the cloned job, null for its default; undefined without a cloned job. */
  originalOption(option: ScriptOption): OptionValue | null | undefined {
    const { original, scriptOptions } = this;
    return original
      ? (this._valuesOf({ original, options: scriptOptions })[
          optionKey(option)
        ] ?? null)
      : undefined;
  }

  /** Set a field to its value in the cloned job. */
  resetField(field: string): void {
    const { original, form } = this;
    if (original) {
      const pointer = changedPointer(this.spec, original, field);
      const value = valueAt(original, pointer) ?? null;
      const spec = specWith(this.spec, { [`/spec${pointer}`]: value });
      const { env, labels, nodeSelector } = formOf(spec, []);
      const rows = {
        ...(field === '/env' && { env }),
        ...(field === '/labels' && { labels }),
        ...(field === '/scheduling/node_selector' && { nodeSelector })
      };
      this._enter(withoutDraft({ ...form, spec, ...rows }, field), field);
    }
  }

  /** Change the first replica group, the only one that the form edits. */
  editReplicas(changes: Partial<ReplicaSpec>, field: string): void {
    const [first, ...rest] = this.form.spec.replica_specs;
    this.edit({ replica_specs: [{ ...first, ...changes }, ...rest] }, field);
  }

  /** Apply a fix that the server offers for a field. Numbers of jobs are those of the shown sweep only. */
  applyFix({ changes: wanted }: Fix, field: string): void {
    const { '/sweep/left_out': leftOut, ...changes } = wanted;
    if (leftOut && !this.sweepJobs.isCurrent) {
      return;
    }
    const form = {
      ...this.form,
      spec: specWith(this.form.spec, changes),
      ...(leftOut
        ? { sweep: { ...this.sweep, leftOut: leftOut as number[] } }
        : {})
    };
    // The form keeps arguments as values of options.
    const values =
      '/spec/args' in changes
        ? splitArgs(form.spec.args, this.scriptOptions)
        : {};
    if (!this.isFrozen) {
      this._edit(withoutDraft({ ...form, ...values }, field), field); // may set the value of a lock
    }
  }

  /**
   * Request accelerators of a kind.
   *
   * @param resource - Resource name of the accelerators.
   * @param pool - The pool whose product label the job's nodes must have; null for all pools of the resource.
   */
  setDeviceKind(resource: string, pool: Pool | null): void {
    const pools = this.capacity.known?.pools ?? [];
    const form = withDeviceKind(this.form, resource, pool, pools);
    this._enter(form, `${DEVICE}/name`);
  }

  /** Keep an invalid text in a field. The spec keeps the last valid value. */
  setDraft(field: string, draft: IDraft): void {
    const { drafts } = this.form;
    this._enter({ ...this.form, drafts: { ...drafts, [field]: draft } }, field);
  }

  /** Rename the job, or keep an invalid name as text of the field. */
  setName(text: string): void {
    const { prefill } = this.state;
    const problem = nameProblem(text, this._options.trans);
    if (problem !== null) {
      this.setDraft('/name', { text, problem });
    } else if (prefill) {
      const form = withName(this.form, text, prefill);
      this._enter(withoutDraft(form, '/name'), '/name');
    }
  }

  /** Set an option of the script; null sets its default. */
  setOption(option: ScriptOption, value: OptionValue | null): void {
    this._enter(withOption(this.form, option, value), optionKey(option));
  }

  /**
   * Set several values of an option of the script, such as `0.1, 0.01`. Its field shows them as chips.
   *
   * @param text - The values; null if the option has one value again.
   */
  setValues(option: ScriptOption, text: string | null): void {
    const key = optionKey(option);
    const { [key]: before, ...others } = this.sweep.values;
    const values = text === null ? others : { ...others, [key]: text };
    const first = firstValue(text ?? before ?? '');
    const form = withOption(this.form, option, first);
    // The numbers of the jobs change, so no job stays left out.
    const sweep = { ...this.sweep, values, leftOut: [] };
    this._enter({ ...form, sweep }, key);
  }

  /** Change how the jobs of the sweep are combined and run. */
  setSweep(changes: Partial<ISweepForm>, field: string): void {
    const sweep = { ...this.sweep, ...changes };
    this._enter(withoutDraft({ ...this.form, sweep }, field), field);
  }

  /** Set the text of “More arguments”. */
  setMore(text: string): void {
    this._enter(withMore(this.form, text), MORE);
  }

  /** Set the rows of the environment variables. */
  setEnv(env: EnvVar[]): void {
    this._enter({ ...this.form, env }, '/env');
  }

  /** Set the rows of the job's labels. */
  setLabels(labels: IPair[]): void {
    this._enter({ ...this.form, labels }, '/labels');
  }

  /** Set the rows of the node labels. */
  setNodeSelector(nodeSelector: IPair[]): void {
    this._enter({ ...this.form, nodeSelector }, '/scheduling/node_selector');
  }

  /** Set the working directory; null for the folder of the file. */
  setWorkingDir(directory: string | null): void {
    const form = withWorkingDir(this.form, directory, this.scriptOptions);
    this._enter(form, '/working_dir');
  }

  /** Set the namespace, or keep an invalid name as text of the field. */
  setNamespace(namespace: string): void {
    const field = '/namespace';
    if (this.isFrozen) {
      return;
    }
    if (isNamespace(namespace)) {
      this._set({ namespace, volumes: null, queues: null });
      this._enter(withoutDraft(this.form, field), field);
    } else {
      const problem = this._options.trans.__(
        'A namespace consists of lowercase letters, digits and dashes.'
      );
      this.setDraft(field, { text: namespace, problem });
    }
  }

  /** Apply an edit of the user unless the form is frozen or the administrator has set the field's value. */
  private _enter(form: ILaunchForm, field: string): void {
    if (!this.isFrozen && !this._isFixed(field)) {
      this._edit(form, field);
    }
  }

  /** Return true if the administrator has set the value of a field. */
  protected _isFixed(field: string): boolean {
    return fixingLock(this.locks, field) !== null;
  }

  private readonly _valuesOf = memoized(
    ({
      original,
      options
    }: {
      original: JobSpec;
      options: readonly ScriptOption[];
    }) => splitArgs(original.args, options).values
  );
  private readonly _differencesOf = memoized(differentValues);
}
