/** The fields of the launch form: values, the spec that they describe, and their checks. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import {
  Capability,
  Check,
  EngineFacts,
  EngineInfo,
  EnvVar,
  Fix,
  JobSpec,
  Kernel,
  Pool,
  ReplicaSpec,
  ScriptOption
} from '../../api/types';
import { CommandPreview } from './commandPreview';
import { baseName } from '../../common/contentsPath';
import {
  DEVICE,
  IDraft,
  ILaunchForm,
  IPair,
  MORE,
  newRequestId,
  specOf,
  withMore,
  withName,
  withOption,
  withoutDraft,
  withWorkingDir
} from './form';
import { capability, IPlace, isNamespace } from '../../cluster/model/places';
import { engineOf, factsOf, labelOf } from '../../jobs/engines';
import { IChecked, knownChecks, nameProblem } from './problems';
import { LaunchCapacity, withDeviceKind } from './capacity';
import { ILaunchOptions } from './options';
import { beginningState, ILaunchState, IManifest } from './state';
import { memoized } from '../../common/memo';
import { specWith } from './specChanges';
import { optionKey, OptionValue } from './scriptOptions';
import { IJobsModel } from '../../tokens';

/** Delay between the last edit and saving the tab, in ms. */
const SAVE_DELAY = 500;

const NO_OPTIONS: readonly ScriptOption[] = [];
const NO_CHECKS: readonly Check[] = [];

/**
 * Base class of the launch form's model: state, fields and checks.
 *
 * Subclasses add requests (`LaunchRequests`), filling (`LaunchFilling`) and editing as YAML (`LaunchModel`).
 */
export abstract class LaunchFields implements IDisposable {
  constructor(protected readonly _options: ILaunchOptions) {
    this._begun = _options.manifest ?? null;
    this._state = beginningState(_options);
    this.preview = new CommandPreview(
      () => this.spec,
      (spec, signal) => {
        const request = { ...this._place, ...this._source, spec };
        return _options.api.preview(request, signal);
      }
    );
    this.preview.changed.connect(() => this._changed.emit());
    _options.jobs?.changed.connect(this._onJobs, this);
    this.capacity = new LaunchCapacity(
      _options.api,
      _options.jobs ?? null,
      () => this._place,
      () => this.engine?.cluster != null
    );
    this.capacity.changed.connect(() => this._changed.emit());
  }

  /** Preview of the form: command or manifest, and the server's checks. */
  readonly preview: CommandPreview;

  /** Free capacity and quotas of the form's cluster. */
  readonly capacity: LaunchCapacity;

  /** The current state; it is replaced with every change, not modified. */
  get state(): Readonly<ILaunchState> {
    return this._state;
  }

  /** Emitted when the state, the preview, the engines or the capacity changes. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Title of the form: the name of its file, of the cloned job or of the manifest. */
  get name(): string {
    const { path, clone, title } = this._state;
    return path === null
      ? (clone?.name ?? title ?? this._options.trans.__('Job'))
      : baseName(path);
  }

  /** All engines: the current ones if the page has them, else those of the last prefilled form. */
  get engines(): readonly EngineInfo[] {
    const now = this._options.jobs?.engines ?? [];
    return now.length ? now : (this._state.prefill?.engines ?? []);
  }

  /** The engine of the form; null if it is not known. */
  get engine(): EngineInfo | null {
    const { engine } = this._state;
    return engineOf(this.engines, engine);
  }

  /** Return a capability of the form's engine: supported, or the reason why not. */
  can(name: string): Capability {
    return capability(this.engine, name);
  }

  /** Facts of the form's engine. */
  get facts(): EngineFacts {
    return factsOf(this.engines, this._state.engine);
  }

  /**
   * Return true if the form shows the field of a capability.
   *
   * Engines with pods differ in few capabilities. Their form shows an unsupported field disabled, with the reason.
   * Other engines may support few fields, so their form omits the unsupported ones.
   */
  offers(name: string): boolean {
    return this.facts.has_pods || this.can(name).supported;
  }

  /** True if the form shows the fields of the image. */
  get offersImage(): boolean {
    return !this.facts.runs_in_kernel && this.offers('image');
  }

  /** The manifest from which the form was opened; null if there is none. */
  get manifest(): IManifest | null {
    return this._begun;
  }

  /** The text of the pasted manifest from which the form was opened; null if there is none. */
  get pasted(): string | null {
    return this._begun?.path === null ? this._begun.text : null;
  }

  /** Images that the settings offer. */
  get presetImages(): readonly string[] {
    return this._options.presetImages?.() ?? [];
  }

  /** True if the fields can't be edited: the manifest is edited instead, or new content is loading. */
  get isLocked(): boolean {
    const { manifest, movingTo, filling } = this._state;
    return manifest !== null || movingTo !== null || filling;
  }

  /**
   * True if neither the fields nor the manifest can be edited: the form is being submitted, replaced, or filled from
   * the manifest.
   */
  get isFrozen(): boolean {
    const { movingTo, filling, busy } = this._state;
    const isTaken = busy === 'submitting' || busy === 'reading';
    return movingTo !== null || filling || isTaken;
  }

  /** Text of the work that must end before the form can be submitted or checked; null if there is none. */
  get pending(): string | null {
    const { movingTo, filling, reading } = this._state;
    const { trans } = this._options;
    if (movingTo !== null) {
      const label = labelOf(this.engines, movingTo);
      return trans.__('Filling in the form for %1…', label);
    }
    if (filling) {
      return trans.__('Filling in the form…');
    }
    return reading ? trans.__('Reading %1…', this.name) : null;
  }

  /** The content of the form. Raises an error before the first prefilled form has arrived. */
  get form(): ILaunchForm {
    if (!this._state.form) {
      throw new Error('The form has not been filled yet.');
    }
    return this._state.form;
  }

  /** The spec that the form describes. */
  get spec(): JobSpec {
    const { form, scriptOptions: options } = this;
    return this._specOf({ form, options });
  }

  /** The options of the script that have fields; empty for a command. */
  get scriptOptions(): readonly ScriptOption[] {
    const { form, prefill } = this._state;
    return form?.spec.entrypoint.kind === 'command'
      ? NO_OPTIONS
      : (prefill?.script.options ?? NO_OPTIONS);
  }

  /** The kernel of the job; the one from the preview also has the version of torch. */
  get kernel(): Kernel | null {
    const { form, prefill } = this._state;
    const name = form?.spec.runtime.kernel ?? null;
    const shown = this.preview.shown?.kernel;
    return shown && (name === null || shown.name === name)
      ? shown
      : (prefill?.kernels.find(kernel => kernel.name === name) ?? null);
  }

  /** Labels that the job's nodes must have. */
  get nodeLabels(): Readonly<Record<string, string>> {
    return this.spec.scheduling.node_selector;
  }

  /** Checks of the page and of the server. The array keeps its identity until a check may have changed. */
  get checks(): readonly Check[] {
    const { form, manifest, prefill, refusal } = this._state;
    if (!form) {
      return NO_CHECKS;
    }
    const { spec, scriptOptions: options } = this;
    const { shown, failure, asked } = this.preview;
    const { trans } = this._options;
    return this._checksOf({
      ...{ form, options, spec, manifest, prefill, refusal, trans },
      ...{ shown, failure, asked }
    });
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.preview.dispose();
    this.capacity.dispose();
    window.clearTimeout(this._saveTimer);
    Signal.clearData(this);
  }

  /**
   * Change fields of the spec and remove the invalid text of a field.
   *
   * @param field - Name of the edited field.
   */
  edit(changes: Partial<JobSpec>, field: string): void {
    const spec = { ...this.form.spec, ...changes };
    this._enter(withoutDraft({ ...this.form, spec }, field), field);
  }

  /** Change the first replica group, the only one that the form edits. */
  editReplicas(changes: Partial<ReplicaSpec>, field: string): void {
    const [first, ...rest] = this.form.spec.replica_specs;
    this.edit({ replica_specs: [{ ...first, ...changes }, ...rest] }, field);
  }

  /** Apply a fix that the server offers for a field. */
  applyFix({ changes }: Fix, field: string): void {
    this.edit(specWith(this.form.spec, changes), field);
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
    this._enter(form, DEVICE);
  }

  /** Keep an invalid text in a field. The spec keeps the last valid value. */
  setDraft(field: string, draft: IDraft): void {
    const { drafts } = this.form;
    this._enter({ ...this.form, drafts: { ...drafts, [field]: draft } }, field);
  }

  /** Rename the job, or keep an invalid name as text of the field. */
  setName(text: string): void {
    const { prefill } = this._state;
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
        'A namespace has small letters, digits and dashes.'
      );
      this.setDraft(field, { text: namespace, problem });
    }
  }

  /** Save the tab, so that a reload of the page restores it. */
  async save(): Promise<void> {
    const { path, start, clone, title, manifest, notes, form, sent } =
      this._state;
    if (form && !this._isDisposed) {
      await this._options.store.saveTab(this._options.tab, {
        ...{ path, start, clone, title, manifest, notes, form, sent },
        ...this._place,
        spec: this.spec
      });
    }
  }

  /** Notify listeners if the jobs model has new engines. */
  private _onJobs({ engines }: Pick<IJobsModel, 'engines'>): void {
    if (engines !== this._enginesSeen) {
      this._enginesSeen = engines;
      this._changed.emit();
    }
  }

  /** Location of the form's job. */
  protected get _place(): IPlace {
    const { engine, namespace } = this._state;
    return { engine, namespace };
  }

  /** The file and the edited manifest, which requests contain beside the spec. */
  protected get _source(): { path: string | null; manifest: string | null } {
    const { path, manifest } = this._state;
    return { path, manifest: manifest?.text ?? null };
  }

  /** Apply an edit of the user unless the form is frozen. */
  private _enter(form: ILaunchForm, field: string): void {
    if (!this.isFrozen) {
      this._edit(form, field);
    }
  }

  /**
   * Replace the form's content, then schedule its preview and its saving.
   *
   * @param lastEdited - Name of the edited field; null if the user edited none.
   */
  protected _edit(form: ILaunchForm, lastEdited: string | null = null): void {
    this._set({
      lastEdited,
      form: { ...form, requestId: newRequestId() },
      refusal: null,
      dryRunPassed: false
    });
    this.preview.schedule();
    window.clearTimeout(this._saveTimer);
    this._saveTimer = window.setTimeout(() => void this.save(), SAVE_DELAY);
  }

  /** Change the state and notify listeners. */
  protected _set(changes: Partial<ILaunchState>): void {
    this._state = { ...this._state, ...changes };
    this._changed.emit();
  }

  /** The manifest from which the form was opened. */
  protected _begun: IManifest | null;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _specOf = memoized(
    ({ form, options }: Pick<IChecked, 'form' | 'options'>) =>
      specOf(form, options)
  );
  private readonly _checksOf = memoized(knownChecks);
  private _state: ILaunchState;
  private _enginesSeen: readonly EngineInfo[] = [];
  private _saveTimer = 0;
  private _isDisposed = false;
}
