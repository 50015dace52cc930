/** State of the launch form, and what follows from it: the spec, the engine's facts and the checks. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import {
  Capability,
  Check,
  EngineFacts,
  EngineInfo,
  ExpandSweep,
  JobSpec,
  Kernel,
  Lock,
  NotebookInfo,
  ScriptOption
} from '../../api/types';
import { CommandPreview } from './commandPreview';
import { baseName } from '../../common/contentsPath';
import { ILaunchForm, newRequestId, specOf } from '../content/form';
import { capability, ILocation } from '../../cluster/model/locations';
import { engineOf, factsOf, labelOf } from '../../jobs/engines';
import { IChecked, knownChecks } from './problems';
import { LaunchCapacity } from './capacity';
import { SweepJobs } from './sweepJobs';
import { ILaunchOptions } from './options';
import { beginningState, ILaunchState, IManifest, JobRequest } from './state';
import { ISweepForm, NO_SWEEP, sweepRequest, isSwept } from '../content/sweep';
import { memoized } from '../../common/memo';
import { LaunchPresets, PresetsClient } from './presets';
import { IJobsModel } from '../../tokens';

/** Delay between the last edit and saving the tab, in ms. */
const SAVE_DELAY = 500;

const NO_OPTIONS: readonly ScriptOption[] = [];
const NO_CHECKS: readonly Check[] = [];

/**
 * Base class of the launch form's model: state, spec and checks.
 *
 * Subclasses add edits (`LaunchFields`), requests (`LaunchRequests`), filling (`LaunchFilling`), the entrypoint
 * (`LaunchEntrypoint`), presets (`LaunchStartingPoints`) and editing as YAML (`LaunchModel`).
 */
export abstract class LaunchFormState implements IDisposable {
  constructor(protected readonly _options: ILaunchOptions) {
    this._begun = _options.manifest ?? null;
    this._state = beginningState(_options);
    this.sweepJobs = new SweepJobs(
      (request, signal) => _options.api.expandSweep(request, signal),
      () => this.sweepRequest
    );
    this.sweepJobs.changed.connect(this._onSweep, this);
    this.preview = new CommandPreview(
      () => this._previewed,
      (spec, signal) => {
        const request = { ...this._location, ...this._source, spec };
        return _options.api.preview(request, signal);
      }
    );
    this.preview.changed.connect(() => this._changed.emit());
    _options.jobs?.changed.connect(this._onJobs, this);
    this.capacity = new LaunchCapacity(
      _options.api,
      _options.jobs ?? null,
      () => this._location,
      () => this.engine?.cluster != null
    );
    this.capacity.changed.connect(() => this._changed.emit());
    this.presets = new LaunchPresets(
      new PresetsClient(_options.api.serverSettings, _options.trans),
      () => this._state.engine
    );
    this.presets.changed.connect(() => this._changed.emit());
  }

  /** Presets of the form, and the administrator's locks. */
  readonly presets: LaunchPresets;

  /** Jobs of the form's sweep. */
  readonly sweepJobs: SweepJobs;

  /** Preview of the form, or of the selected job of its sweep: command or manifest, and the server's checks. */
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

  /** The engines that create jobs: the current ones if the page has them, else those of the last prefilled form. */
  get engines(): readonly EngineInfo[] {
    const now = this._options.jobs?.engines ?? [];
    const all = now.length ? now : (this._state.prefill?.engines ?? []);
    return all.every(({ facts }) => facts.creates_jobs)
      ? all
      : all.filter(({ facts }) => facts.creates_jobs);
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

  /** The notebook that the job runs; null if it runs something else. */
  get notebook(): NotebookInfo | null {
    const { form, prefill } = this._state;
    return form?.spec.entrypoint.kind === 'notebook'
      ? (prefill?.notebook ?? null)
      : null;
  }

  /** The options of the script that have fields; empty for a command. */
  get scriptOptions(): readonly ScriptOption[] {
    const { form, prefill } = this._state;
    return form?.spec.entrypoint.kind === 'command'
      ? NO_OPTIONS
      : (prefill?.script.options ?? NO_OPTIONS);
  }

  /** The sweep of the form. */
  get sweep(): ISweepForm {
    return this._state.form?.sweep ?? NO_SWEEP;
  }

  /** True if several jobs will be created. An edited manifest describes one job. */
  get isSweep(): boolean {
    const { form, manifest } = this._state;
    return (
      form !== null &&
      manifest === null &&
      (!!this.sweep.rowsPath ||
        this._isSwept({ sweep: this.sweep, options: this.scriptOptions }))
    );
  }

  /** The request for the jobs of the sweep; null if the form has no sweep. */
  get sweepRequest(): ExpandSweep | null {
    const { spec, sweep, scriptOptions } = this;
    return this.isSweep
      ? {
          ...this._location,
          spec,
          path: this._state.path,
          sweep: sweepRequest(sweep, scriptOptions)
        }
      : null;
  }

  /** The administrator's locks by the form's fields. */
  get locks(): ReadonlyMap<string, Lock> {
    const { form } = this._state;
    return this.presets.locksAt(form, this.scriptOptions);
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
    const { _previewed: spec, scriptOptions: options } = this;
    const { shown, failure, asked, described } = this.preview;
    const sweep = (this.isSweep && this.sweepJobs.shown?.checks) || NO_CHECKS;
    const lacksMetric =
      this.isSweep && !(this.sweep.rule?.metric.trim() ?? 'no rule');
    const { trans } = this._options;
    return this._checksOf({
      ...{ form, options, spec, manifest, prefill, refusal, sweep },
      ...{ lacksMetric, trans, shown, failure, asked, described }
    });
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.preview.dispose();
    this.sweepJobs.dispose();
    this.capacity.dispose();
    this.presets.dispose();
    window.clearTimeout(this._saveTimer);
    Signal.clearData(this);
  }

  /** Save the tab, so that a reload of the page restores it. */
  async save(): Promise<void> {
    const { path, start, clone, title, manifest, written } = this._state;
    const { notes, form, sent, sentSweep, original } = this._state;
    if (form && !this._isDisposed) {
      await this._options.store.saveTab(this._options.tab, {
        ...{ path, start, clone, title, manifest, written, notes, form, sent },
        ...{ sentSweep, original },
        ...this._location,
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

  /** Show the command of the selected job of the sweep. */
  private _onSweep(): void {
    if (this.preview.asked !== this._previewed) {
      void this.preview.refresh();
    }
    this._changed.emit();
  }

  /** The spec that the preview shows: the selected job's in a sweep, else the form's. */
  protected get _previewed(): JobSpec {
    return (this.isSweep && this.sweepJobs.selected?.spec) || this.spec;
  }

  /** Location of the form's job. */
  protected get _location(): ILocation {
    const { engine, namespace } = this._state;
    return { engine, namespace };
  }

  /** The file and the manifests, which requests contain beside the spec. */
  protected get _source(): Pick<JobRequest, 'path' | 'manifest' | 'written'> {
    const { path, manifest, written } = this._state;
    return { path, manifest: manifest?.text ?? null, written };
  }

  /**
   * Replace the form's content. The server's answer to the content before it is dropped.
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
    this._followForm();
  }

  /** Schedule the form's preview, the jobs of its sweep, and its saving. */
  protected _followForm(): void {
    this.preview.schedule();
    this.sweepJobs.schedule();
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
  private readonly _isSwept = memoized(isSwept);
  private _state: ILaunchState;
  private _enginesSeen: readonly EngineInfo[] = [];
  private _saveTimer = 0;
  private _isDisposed = false;
}
