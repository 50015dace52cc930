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

/** How long to wait for the next key before edits are kept for after a reload, in ms. */
const SAVE_DELAY = 500;

const NO_OPTIONS: readonly ScriptOption[] = [];
const NO_CHECKS: readonly Check[] = [];

/** The fields of a launch form: what is in them, what that amounts to, and what is known about it. */
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

  /** What the form amounts to. */
  readonly preview: CommandPreview;

  /** What of the cluster is free now. */
  readonly capacity: LaunchCapacity;

  get state(): Readonly<ILaunchState> {
    return this._state;
  }

  /** The state, the preview, the engines, or what is free changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** What the form is for, by name: its file, else the job that it starts from. */
  get name(): string {
    const { path, clone, title } = this._state;
    return path === null
      ? (clone?.name ?? title ?? this._options.trans.__('Job'))
      : baseName(path);
  }

  /** All engines, as they are now where that is known. */
  get engines(): readonly EngineInfo[] {
    const now = this._options.jobs?.engines ?? [];
    return now.length ? now : (this._state.prefill?.engines ?? []);
  }

  /** The engine that the job is for. */
  get engine(): EngineInfo | null {
    const { engine } = this._state;
    return engineOf(this.engines, engine);
  }

  /** Whether that engine can do a thing, or why not. */
  can(name: string): Capability {
    return capability(this.engine, name);
  }

  /** Facts of that engine. */
  get facts(): EngineFacts {
    return factsOf(this.engines, this._state.engine);
  }

  /**
   * Return true if the form has the field of a capability.
   *
   * Engines with pods differ in few capabilities: there the field is shown, disabled and with the reason. Other engines
   * may have few fields at all, so fields that they do not support are left out.
   */
  offers(name: string): boolean {
    return this.facts.has_pods || this.can(name).supported;
  }

  /** The manifest that the form began with, if that was one. */
  get manifest(): IManifest | null {
    return this._begun;
  }

  /** The text of the pasted manifest that the form began with. */
  get pasted(): string | null {
    return this._begun?.path === null ? this._begun.text : null;
  }

  /** Images that the settings offer. */
  get presetImages(): readonly string[] {
    return this._options.presetImages?.() ?? [];
  }

  /** The fields can't be changed: the manifest is edited in their place, or they are being replaced. */
  get isLocked(): boolean {
    const { manifest, movingTo, filling } = this._state;
    return manifest !== null || movingTo !== null || filling;
  }

  /** Nothing can be entered: what is shown is being submitted, read, or replaced. */
  get isFrozen(): boolean {
    const { movingTo, filling, busy } = this._state;
    const isTaken = busy === 'submitting' || busy === 'reading';
    return movingTo !== null || filling || isTaken;
  }

  /** The work that the form waits for, in words; until then it can be neither submitted nor checked. */
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

  /** The content of the form; there is none before `open` has succeeded. */
  get form(): ILaunchForm {
    if (!this._state.form) {
      throw new Error('The form has not been filled yet.');
    }
    return this._state.form;
  }

  /** The spec that the form amounts to. */
  get spec(): JobSpec {
    const { form, scriptOptions: options } = this;
    return this._specOf({ form, options });
  }

  /** The options of the script that have fields; a command has none. */
  get scriptOptions(): readonly ScriptOption[] {
    const { form, prefill } = this._state;
    return form?.spec.entrypoint.kind === 'command'
      ? NO_OPTIONS
      : (prefill?.script.options ?? NO_OPTIONS);
  }

  /** The kernel that the job would use, with its torch if the server has looked. */
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

  /** Everything that is known about the form, ours and the server's; the same array until something changes. */
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

  /** Change fields of the spec; `field` has a valid content again. */
  edit(changes: Partial<JobSpec>, field: string): void {
    const spec = { ...this.form.spec, ...changes };
    this._enter(withoutDraft({ ...this.form, spec }, field), field);
  }

  /** Change the replicas; the form edits one group. */
  editReplicas(changes: Partial<ReplicaSpec>, field: string): void {
    const [first, ...rest] = this.form.spec.replica_specs;
    this.edit({ replica_specs: [{ ...first, ...changes }, ...rest] }, field);
  }

  /** Make the change that is offered at a field. */
  applyFix({ changes }: Fix, field: string): void {
    this.edit(specWith(this.form.spec, changes), field);
  }

  /**
   * Ask for accelerators of a kind.
   *
   * @param pool - Only those: the label of their nodes is asked for as well; null for all of the resource.
   */
  setDeviceKind(resource: string, pool: Pool | null): void {
    const pools = this.capacity.known?.pools ?? [];
    const form = withDeviceKind(this.form, resource, pool, pools);
    this._enter(form, DEVICE);
  }

  /** Keep what a field shows though it can't be put into the spec. */
  setDraft(field: string, draft: IDraft): void {
    const { drafts } = this.form;
    this._enter({ ...this.form, drafts: { ...drafts, [field]: draft } }, field);
  }

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

  /** Give an option a value; null is its default. */
  setOption(option: ScriptOption, value: OptionValue | null): void {
    this._enter(withOption(this.form, option, value), optionKey(option));
  }

  /** Take further arguments as typed. */
  setMore(text: string): void {
    this._enter(withMore(this.form, text), MORE);
  }

  setEnv(env: EnvVar[]): void {
    this._enter({ ...this.form, env }, '/env');
  }

  setLabels(labels: IPair[]): void {
    this._enter({ ...this.form, labels }, '/labels');
  }

  setNodeSelector(nodeSelector: IPair[]): void {
    this._enter({ ...this.form, nodeSelector }, '/scheduling/node_selector');
  }

  setWorkingDir(directory: string | null): void {
    const form = withWorkingDir(this.form, directory, this.scriptOptions);
    this._enter(form, '/working_dir');
  }

  /** Run the job in another namespace. */
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

  /** Keep the edits, so that they survive a reload of the page. */
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

  private _onJobs({ engines }: Pick<IJobsModel, 'engines'>): void {
    if (engines !== this._enginesSeen) {
      this._enginesSeen = engines;
      this._changed.emit();
    }
  }

  protected get _place(): IPlace {
    const { engine, namespace } = this._state;
    return { engine, namespace };
  }

  /** What is submitted beside the spec. */
  protected get _source(): { path: string | null; manifest: string | null } {
    const { path, manifest } = this._state;
    return { path, manifest: manifest?.text ?? null };
  }

  /** Take what the user has entered, unless nothing can be entered now. */
  private _enter(form: ILaunchForm, field: string): void {
    if (!this.isFrozen) {
      this._edit(form, field);
    }
  }

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

  protected _set(changes: Partial<ILaunchState>): void {
    this._state = { ...this._state, ...changes };
    this._changed.emit();
  }

  /** What the form began with, if that was a manifest. */
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
