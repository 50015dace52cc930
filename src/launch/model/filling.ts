import { EngineName } from '../../api/aliases';
import { ApiError, expectApiError } from '../../api/client';
import { JobSpec, Prefill } from '../../api/types';
import { contentsPath } from '../../common/contentsPath';
import { asKind, EntrypointKind, folderOf, formOf, splitArgs } from './form';
import { IPlace, placeOn } from '../../cluster/model/places';
import { LaunchRequests } from './requests';
import { ILastTime, ILaunchState, Start } from './state';
import { restore } from '../../jobs/restore';

/** The form as it was at an engine. */
interface ILeft {
  place: IPlace;
  spec: JobSpec;
  /** What it began as at the next. */
  begun: JobSpec;
}

/** The content of a launch form: filled from a script, an earlier job or another engine. */
export abstract class LaunchFilling extends LaunchRequests {
  /** Fill the form anew; until it is, the old one stays, and can't be submitted. */
  async startFrom(start: Start): Promise<void> {
    if (this.isLocked || this.state.busy) {
      return;
    }
    this._set({ filling: true, refusal: null });
    await this._startFrom(start);
    const { form, failure } = this.state;
    this._set({
      filling: false,
      ...(form && failure && { refusal: failure, failure: null })
    });
    this._settle();
  }

  private async _startFrom(start: Start): Promise<void> {
    const { path, clone, lastTime } = this.state;
    const source = { last: lastTime, job: clone, defaults: null }[start];
    const place =
      source?.engine && this._isAvailable(source.engine)
        ? { engine: source.engine, namespace: source.namespace ?? '' }
        : this._place;
    let prefill = await this._load(source?.spec, place);
    const isRefused = !prefill && this.state.failure?.status === 422;
    if (isRefused && source && path !== null) {
      // What was kept is of another version, or names what is gone: begin with what there is.
      start = 'defaults';
      prefill = await this._load(undefined, place);
    }
    if (prefill) {
      // Without an engine the server has chosen one.
      const at = this._at(place.engine ? place : prefill);
      this._set({ ...at, prefill, start, notes: [] });
      await this._fill(prefill.spec);
    } else if (!this.state.form) {
      this._set({ ...place, start });
    }
  }

  /** Fill the form for another file. */
  async openFor(path: string): Promise<void> {
    this._set({ path });
    this._set({ lastTime: await this._lastTime() });
    await this.startFrom(this.state.lastTime ? 'last' : 'defaults');
  }

  /** Run the job elsewhere. What the user has entered goes along as far as it can; `notes` say what could not. */
  async moveTo(engine: EngineName): Promise<void> {
    const from = this._place;
    const info = this.engines.find(({ name }) => name === engine);
    if (engine === from.engine || !info || this.isLocked || this.state.busy) {
      return;
    }
    this._set({ movingTo: engine, refusal: null });
    const now = this.spec;
    const place = this._left.get(engine)?.place ?? placeOn(info);
    const kept = await this._keptFor(place);
    const prefill = await this._load(now, place, from.engine);
    if (prefill) {
      const spec = kept
        ? restore(kept.spec, kept.begun, now, prefill.spec)
        : prefill.spec;
      this._left.set(from.engine, { place: from, spec: now, begun: spec });
      this._cameFrom = from.engine;
      const { notes } = prefill;
      this._set({ ...this._at(place), movingTo: null, prefill, notes });
      await this._fill(spec);
    } else {
      const refusal = this.state.failure;
      this._set({ movingTo: null, refusal, failure: null });
    }
    this._settle();
  }

  /** Read the script again; what the user has entered stays. While the form waits for something else, this is put off. */
  async readScript(): Promise<void> {
    if (!this.state.form) {
      return this.startFrom(this.state.start);
    }
    const { movingTo, filling, busy } = this.state;
    this._isReadDue = movingTo !== null || filling || busy !== null;
    if (this._isReadDue) {
      return;
    }
    this._set({ reading: true });
    const prefill = await this._load(this.spec);
    if (prefill) {
      const { args } = this.spec; // as they are now
      this._set({ prefill });
      this._edit({ ...this.form, ...splitArgs(args, this.scriptOptions) });
    }
    this._set({ reading: false });
  }

  protected override _settle(): void {
    if (this._isReadDue) {
      void this.readScript();
    }
  }

  /** Run something else; the options of a file are read anew. */
  async setEntrypoint(kind: EntrypointKind, text: string): Promise<void> {
    if (this.isFrozen) {
      return;
    }
    const field = '/entrypoint/value';
    const value = text.trim();
    const { args } = this.spec;
    this._followFile(kind, value);
    this.edit({ entrypoint: { kind, value: value || '-' } }, field);
    if (!value) {
      const problem = this._options.trans.__(
        'Enter a script, module or command.'
      );
      this.setDraft(field, { text, problem });
    }
    this._edit({ ...this.form, ...splitArgs(args, this.scriptOptions) });
    const isFile = kind === 'script' || kind === 'notebook';
    const root = this.state.prefill?.root ?? null;
    const path = isFile ? contentsPath(value, root) : null;
    if (path && path !== this.state.path) {
      this._set({ path });
      await this.readScript();
    }
  }

  /** A job works in the folder of its file unless the user has chosen another. */
  private _followFile(kind: EntrypointKind, value: string): void {
    const { entrypoint, working_dir } = this.form.spec;
    const own = [
      folderOf(entrypoint.kind, entrypoint.value),
      this.state.prefill?.spec.working_dir ?? null,
      this._followed
    ];
    const folder = folderOf(kind, value);
    if (folder !== null && working_dir !== null && own.includes(working_dir)) {
      this._followed = folder;
      this.setWorkingDir(folder);
    }
  }

  /** Run the same file in another way; what runs no file is typed anew. */
  async setKind(kind: EntrypointKind): Promise<void> {
    const { prefill, path } = this.state;
    if (this.isFrozen) {
      return;
    }
    if (prefill && path === null) {
      const { kind: own, value } = prefill.spec.entrypoint;
      await this.setEntrypoint(kind, kind === own ? value : '');
    } else if (prefill?.root && path !== null) {
      const { value, working_dir } = asKind(kind, path, prefill.root);
      this.setWorkingDir(working_dir);
      await this.setEntrypoint(kind, value);
    }
  }

  /** What the file was last submitted with. */
  protected async _lastTime(): Promise<ILastTime | null> {
    const { path } = this.state;
    return path === null ? null : this._options.store.lastTime(path);
  }

  private _isAvailable(name: EngineName): boolean {
    const { engines } = this;
    return (
      !engines.length ||
      engines.some(info => info.name === name && info.available)
    );
  }

  /** How the form was at an engine that it goes back to; else where it came from, as that engine has it. */
  private async _keptFor(place: IPlace): Promise<Omit<ILeft, 'place'> | null> {
    const there = this._left.get(place.engine);
    const came = this._cameFrom && this._left.get(this._cameFrom);
    if (there || !came) {
      return there ?? null;
    }
    const prefill = await this._load(came.spec, place, came.place.engine);
    return prefill && { spec: prefill.spec, begun: came.begun };
  }

  /** A place, as a change of the state; lists of another place go. */
  protected _at({ engine, namespace }: IPlace): Partial<ILaunchState> {
    const { state } = this;
    return engine === state.engine && namespace === state.namespace
      ? {}
      : { engine, namespace, volumes: null, queues: null };
  }

  /** Show a spec as the form. */
  protected async _fill(spec: JobSpec): Promise<void> {
    this.preview.reset();
    this._edit(formOf(spec, this.state.prefill?.script.options ?? []));
    await this.preview.refresh();
  }

  /** Ask for a prefilled form, or set `failure`; null as well where a newer question was asked meanwhile. */
  protected async _load(
    spec?: JobSpec,
    place = this._place,
    crossedFrom: EngineName | null = null
  ): Promise<Prefill | null> {
    const { path } = this.state;
    const loading = ++this._loading;
    let prefill: Prefill | null = null;
    let failure: ApiError | null = null;
    try {
      prefill = await this._options.api.prefill({
        path,
        ...(place.engine ? place : {}),
        spec: spec ?? null,
        crossed_from: crossedFrom
      });
    } catch (error) {
      failure = expectApiError(error);
    }
    if (loading !== this._loading || this.isDisposed) {
      return null;
    }
    this._set({ failure });
    return prefill;
  }

  /** Engines that the form has left: how it was there, and what it began as at the next. */
  private readonly _left = new Map<EngineName, ILeft>();
  private _cameFrom: EngineName | null = null;
  private _followed: string | null = null;
  private _loading = 0;
  private _isReadDue = false;
}
