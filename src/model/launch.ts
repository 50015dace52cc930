import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../api/client';
import {
  Check,
  CreateJob,
  EnvVar,
  Job,
  JobSpec,
  Kernel,
  Prefill,
  ReplicaSpec,
  ScriptOption
} from '../api/types';
import { CommandPreview } from './commandPreview';
import { contentsPath } from './contentsPath';
import {
  asKind,
  baseName,
  EntrypointKind,
  formOf,
  IDraft,
  ILaunchForm,
  newRequestId,
  specOf,
  splitArgs,
  withMore,
  withName,
  withOption,
  withoutDraft,
  withWorkingDir
} from './launchForm';
import { allChecks, isSameField, nameProblem } from './launchProblems';
import { ILaunchOptions, ILaunchState, Start } from './launchState';
import { ILastTime, ISavedTab } from './launchStore';
import { OptionValue } from './scriptOptions';

/** How long to wait for the next key before edits are kept for after a reload, in ms. */
const SAVE_DELAY = 500;

/** A launch form: prefilled by the server, edited by the user, checked while it is. */
export class LaunchModel implements IDisposable {
  constructor(private readonly _options: ILaunchOptions) {
    this._state = {
      path: _options.path,
      engine: 'local',
      namespace: '',
      start: 'defaults',
      clone: _options.clone ?? null,
      lastTime: null,
      prefill: null,
      failure: null,
      form: null,
      busy: null,
      refusal: null,
      dryRunPassed: false
    };
    this.preview = new CommandPreview(
      () => this.spec,
      (spec, signal) => {
        const { engine, namespace, path } = this._state;
        return _options.api.preview({ engine, namespace, path, spec }, signal);
      }
    );
    this.preview.changed.connect(() => this._changed.emit());
  }

  /** What the form amounts to. */
  readonly preview: CommandPreview;

  get state(): Readonly<ILaunchState> {
    return this._state;
  }

  /** The state or the preview changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** What the form is for, by name: its file, else the job that it starts from. */
  get name(): string {
    const { path, clone } = this._state;
    return path === null
      ? (clone?.name ?? this._options.trans.__('Job'))
      : baseName(path);
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
    return specOf(this.form, this.scriptOptions);
  }

  /** The options of the script that have fields; a command has none. */
  get scriptOptions(): readonly ScriptOption[] {
    const { form, prefill } = this._state;
    return form?.spec.entrypoint.kind === 'command'
      ? []
      : (prefill?.script.options ?? []);
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

  /** Everything that is known about the form, ours and the server's; fields named as here. */
  get checks(): Check[] {
    const { form, prefill, refusal } = this._state;
    if (!form) {
      return [];
    }
    const { shown, failure } = this.preview;
    const { spec } = this;
    const asked = this.preview.asked ?? prefill?.spec ?? spec;
    const holds = ({ field }: { field: string | null }): boolean =>
      field === null || isSameField(field, asked, spec);
    return allChecks(
      form,
      this.scriptOptions,
      [refusal, failure && holds(failure) ? failure : null],
      (shown?.checks ?? prefill?.checks ?? []).filter(
        check => check.level !== 'error' || holds(check)
      ),
      this._options.trans
    );
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.preview.dispose();
    window.clearTimeout(this._saveTimer);
    Signal.clearData(this);
  }

  /** Take up the tab's saved edits if there are any, else what the file was last submitted with. */
  async open(): Promise<void> {
    const { store, tab } = this._options;
    const saved = await store.tab(tab);
    if (saved && (await this._restore(saved))) {
      return;
    }
    this._set({ lastTime: await this._lastTime() });
    const { clone, lastTime } = this._state;
    await this.startFrom(clone ? 'job' : lastTime ? 'last' : 'defaults');
  }

  /** Fill the form anew. */
  async startFrom(start: Start): Promise<void> {
    const { path, clone, lastTime } = this._state;
    const source = { last: lastTime, job: clone, defaults: null }[start];
    let prefill = await this._load(source?.spec);
    const isRefused = !prefill && this._state.failure?.status === 422;
    if (isRefused && source && path !== null) {
      // What was kept is of another version, or names what is gone: begin with what there is.
      start = 'defaults';
      prefill = await this._load();
    }
    this._set({ start });
    if (prefill) {
      this.preview.reset();
      this._edit(formOf(prefill.spec, prefill.script.options));
      await this.preview.refresh();
    }
  }

  /** Fill the form for another file, or another engine. */
  async openFor(
    target: Partial<Pick<ILaunchState, 'path' | 'engine' | 'namespace'>>
  ): Promise<void> {
    this._set(target);
    this._set({ lastTime: await this._lastTime() });
    await this.startFrom(this._state.lastTime ? 'last' : 'defaults');
  }

  /** Read the script again; what the user has entered stays. */
  async readScript(): Promise<void> {
    if (!this._state.form) {
      return this.startFrom(this._state.start);
    }
    const { spec } = this;
    if ((await this._load(spec)) && this._state.form) {
      this._edit({ ...this.form, ...splitArgs(spec.args, this.scriptOptions) });
    }
  }

  /** Change fields of the spec; `field` has a valid content again. */
  edit(changes: Partial<JobSpec>, field: string): void {
    const spec = { ...this.form.spec, ...changes };
    this._edit(withoutDraft({ ...this.form, spec }, field));
  }

  /** Change the replicas; the form edits one group. */
  editReplicas(changes: Partial<ReplicaSpec>, field: string): void {
    const [first, ...rest] = this.form.spec.replica_specs;
    this.edit({ replica_specs: [{ ...first, ...changes }, ...rest] }, field);
  }

  /** Keep what a field shows though it can't be put into the spec. */
  setDraft(field: string, draft: IDraft): void {
    const { drafts } = this.form;
    this._edit({ ...this.form, drafts: { ...drafts, [field]: draft } });
  }

  setName(text: string): void {
    const { prefill } = this._state;
    const problem = nameProblem(text, this._options.trans);
    if (problem !== null) {
      this.setDraft('/name', { text, problem });
    } else if (prefill) {
      this._edit(withoutDraft(withName(this.form, text, prefill), '/name'));
    }
  }

  /** Give an option a value; null is its default. */
  setOption(option: ScriptOption, value: OptionValue | null): void {
    this._edit(withOption(this.form, option, value));
  }

  /** Take further arguments as typed. */
  setMore(text: string): void {
    this._edit(withMore(this.form, text));
  }

  setEnv(env: EnvVar[]): void {
    this._edit({ ...this.form, env });
  }

  setWorkingDir(directory: string | null): void {
    this._edit(withWorkingDir(this.form, directory, this.scriptOptions));
  }

  /** Run something else; the options of a file are read anew. */
  async setEntrypoint(kind: EntrypointKind, text: string): Promise<void> {
    const field = '/entrypoint/value';
    const value = text.trim();
    const { args } = this.spec;
    this.edit({ entrypoint: { kind, value: value || '-' } }, field);
    if (!value) {
      const problem = this._options.trans.__('Say what is to be run.');
      this.setDraft(field, { text, problem });
    }
    this._edit({ ...this.form, ...splitArgs(args, this.scriptOptions) });
    const isFile = kind === 'script' || kind === 'notebook';
    const root = this._state.prefill?.root ?? null;
    const path = isFile ? contentsPath(value, root) : null;
    if (path && path !== this._state.path) {
      this._set({ path });
      await this.readScript();
    }
  }

  /** Run the same file in another way; what runs no file is typed anew. */
  async setKind(kind: EntrypointKind): Promise<void> {
    const { prefill, path } = this._state;
    if (prefill && path === null) {
      const { kind: own, value } = prefill.spec.entrypoint;
      await this.setEntrypoint(kind, kind === own ? value : '');
    } else if (prefill?.root && path !== null) {
      const { value, working_dir } = asKind(kind, path, prefill.root);
      this.setWorkingDir(working_dir);
      await this.setEntrypoint(kind, value);
    }
  }

  /** Let the server validate all of it without creating anything. */
  async dryRun(): Promise<void> {
    const { spec } = this;
    const preview = await this._send('checking', request =>
      this._options.api.dryRun(request)
    );
    if (preview) {
      this.preview.show(preview, spec);
      const failed = this.checks.some(check => check.level === 'error');
      this._set({ dryRunPassed: !failed });
    }
  }

  /** Create the job; null if the server refused it, or a request is on its way already. */
  async submit(): Promise<Job | null> {
    const { spec } = this;
    const job = await this._send('submitting', request =>
      this._options.api.createJob(request)
    );
    const { path } = this._state;
    if (job && path !== null) {
      const time = Date.now() / 1000;
      await this._options.store.saveLastTime(path, { spec, time });
    }
    return job;
  }

  /** Keep the edits, so that they survive a reload of the page. */
  async save(): Promise<void> {
    const { path, engine, namespace, start, clone, form } = this._state;
    if (form && !this._isDisposed) {
      await this._options.store.saveTab(this._options.tab, {
        ...{ path, engine, namespace, start, clone, form },
        spec: this.spec
      });
    }
  }

  private async _send<T>(
    busy: 'submitting' | 'checking',
    send: (request: Omit<CreateJob, 'dry_run'>) => Promise<T>
  ): Promise<T | null> {
    if (this._state.busy) {
      return null;
    }
    const { engine, namespace, path } = this._state;
    const { spec, form } = this;
    this._set({ busy, refusal: null, dryRunPassed: false });
    try {
      const request_id = form.requestId;
      return await send({ engine, namespace, path, spec, request_id });
    } catch (error) {
      this._set({ refusal: expectApiError(error) });
      return null;
    } finally {
      this._set({ busy: null });
    }
  }

  /** What the file was last submitted with. */
  private async _lastTime(): Promise<ILastTime | null> {
    const { path } = this._state;
    return path === null ? null : this._options.store.lastTime(path);
  }

  private _edit(form: ILaunchForm): void {
    this._set({
      form: { ...form, requestId: newRequestId() },
      refusal: null,
      dryRunPassed: false
    });
    this.preview.schedule();
    window.clearTimeout(this._saveTimer);
    this._saveTimer = window.setTimeout(() => void this.save(), SAVE_DELAY);
  }

  private _set(changes: Partial<ILaunchState>): void {
    this._state = { ...this._state, ...changes };
    this._changed.emit();
  }

  /** Ask for a prefilled form; the answer to an older question is dropped. */
  private async _load(spec?: JobSpec): Promise<Prefill | null> {
    const { path, engine, namespace } = this._state;
    const loading = ++this._loading;
    let prefill: Prefill | null = null;
    let failure: ApiError | null = null;
    try {
      prefill = await this._options.api.prefill({
        path,
        engine,
        namespace,
        spec: spec ?? null
      });
    } catch (error) {
      failure = expectApiError(error);
    }
    if (loading !== this._loading || this._isDisposed) {
      return null;
    }
    this._set({ prefill: prefill ?? this._state.prefill, failure });
    return prefill;
  }

  private async _restore(saved: ISavedTab): Promise<boolean> {
    const { form, spec, ...others } = saved;
    this._set(others);
    this._set({ lastTime: await this._lastTime() });
    if (!(await this._load(spec))) {
      return false;
    }
    // The request's id stays as well: a page that was reloaded while it submitted makes no second job.
    this._set({ form });
    await this.preview.refresh();
    return true;
  }

  private readonly _changed = new Signal<this, void>(this);
  private _state: ILaunchState;
  private _loading = 0;
  private _saveTimer = 0;
  private _isDisposed = false;
}
