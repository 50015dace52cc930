/** Fills the launch form from a script, an earlier job, a saved specification or another engine. */
import { EngineName } from '../../api/aliases';
import { NOTEBOOK_CELLS_OPTION } from '../../api/constants';
import { ApiError, expectApiError } from '../../api/errors';
import { EngineInfo, ExpandSweep, JobSpec, Prefill } from '../../api/types';
import {
  formOf,
  ILaunchForm,
  MORE,
  movedForm,
  withArgs
} from '../content/form';
import { ILocation, usualLocation } from '../../cluster/model/locations';
import { cellsValue, ICellName, keysOf } from '../content/notebookCells';
import { isSame, LaunchRequests } from './requests';
import { originalSpec } from '../content/originalSpec';
import { ILastTime, ILaunchState, Start } from './state';
import { restore } from '../../jobs/restore';

/** State of the form when it left an engine. */
interface ILeft {
  location: ILocation;
  spec: JobSpec;
  /** The spec with which the form was filled at the next engine. Differences from it are the user's edits there. */
  begun: JobSpec;
}

/** Base class of the launch form's model: fills the form and moves it between engines. */
export abstract class LaunchFilling extends LaunchRequests {
  /**
   * Replace the content of the form.
   *
   * The form shows its old content until the new one arrives. It can't be submitted in the meantime.
   */
  async startFrom(start: Start): Promise<void> {
    if (this.isLocked || this.state.busy) {
      return;
    }
    this._set({ filling: true, refusal: null });
    const isFilled = await this._startFrom(start);
    const { form, failure } = this.state;
    this._set({
      filling: false,
      ...(form && failure && { refusal: failure, failure: null })
    });
    this._settle();
    if (isFilled && this.state.launchedBy && this._chosenCells) {
      await this.runNotebook(); // the user chose cells while the form was loading
    } else if (isFilled) {
      await this.preview.refresh(); // the filled form is not locked during this request
    }
  }

  /**
   * Load the content from a source. If the server refuses a saved spec, load the defaults.
   *
   * @returns True if the form has new content.
   */
  private async _startFrom(start: Start): Promise<boolean> {
    const { path, clone, lastTime } = this.state;
    const source = { last: lastTime, job: clone, defaults: null }[start];
    const wanted =
      source?.engine && this._isAvailable(source.engine)
        ? { engine: source.engine, namespace: source.namespace ?? '' }
        : this._location;
    const loaded = await this._loadAt(wanted, source?.spec);
    const { location } = loaded;
    let { prefill } = loaded;
    const isRefused = !prefill && this.state.failure?.status === 422;
    if (isRefused && source && path !== null) {
      // The server refuses the saved spec: another version wrote it, or it names an object that no longer exists. Use
      // the defaults.
      start = 'defaults';
      prefill = await this._load(undefined, location);
    }
    if (prefill) {
      // The server chooses the engine if the request names none, and the namespace of the file's volume for a new job.
      const isChosen = start !== 'defaults' && location.engine;
      const at = this._at(isChosen ? location : prefill);
      const { launched_by: launchedBy, notes } = prefill;
      const original =
        start === 'job' ? originalSpec(prefill, clone?.was) : null;
      this._set({
        ...{ ...at, prefill, start, launchedBy, original },
        ...{ applied: null, written: null },
        // A notebook whose cell starts a script opens the form of the script.
        ...(launchedBy ? { path: prefill.path, notes } : { notes: [] })
      });
      this._replace(prefill.spec);
    } else if (!this.state.form) {
      this._set({ ...location, start });
    }
    return prefill !== null;
  }

  /** Run the cells of the notebook from whose command the form was filled. */
  async runNotebook(): Promise<void> {
    const { launchedBy } = this.state;
    if (launchedBy) {
      this._isWholeNotebook = true;
      await this.openFor(launchedBy.path);
    }
  }

  /** Choose the cells of a notebook that run, now or as soon as the form is filled. */
  chooseCells(cells: readonly ICellName[]): void {
    this._isWholeNotebook = true;
    this._chosenCells = cells;
    if (this.state.form) {
      this._applyCells();
    }
  }

  private _applyCells(): void {
    const { notebook, _chosenCells: chosen } = this;
    const option = this.scriptOptions.find(({ flags }) =>
      flags.includes(NOTEBOOK_CELLS_OPTION)
    );
    if (notebook && option && chosen) {
      this._chosenCells = null;
      this.setOption(
        option,
        cellsValue(notebook.cells, keysOf(notebook.cells, chosen))
      );
    }
  }

  /** Fill the form for a file: with the cloned job, else with the file's last submission, else with the defaults. */
  async openFor(path: string): Promise<void> {
    const { store, tab } = this._options;
    this._set({ path });
    if (this._begun) {
      this._begun = null;
      await store.removeSource(tab);
    }
    this._set({ lastTime: await this._lastTime() });
    const { clone, lastTime } = this.state;
    await this.startFrom(clone ? 'job' : lastTime ? 'last' : 'defaults');
  }

  /**
   * Move the form to another engine.
   *
   * Values that the engine supports are kept. The state's `notes` list the values that are lost.
   */
  async moveTo(engine: EngineName): Promise<void> {
    const from = this._location;
    const info = this.engines.find(({ name }) => name === engine);
    if (engine === from.engine || !info || this.isLocked || this.state.busy) {
      return;
    }
    this._set({ movingTo: engine, refusal: null });
    const now = this.spec;
    // At an engine that is new to the form, the server chooses the namespace of the file's volume.
    const location = this._left.get(engine)?.location ?? {
      engine,
      namespace: ''
    };
    const kept = await this._keptFor(location);
    const prefill = await this._load(now, location, from.engine);
    if (prefill) {
      const spec = kept
        ? restore(kept.spec, kept.begun, now, prefill.spec)
        : prefill.spec;
      this._left.set(from.engine, { location: from, spec: now, begun: spec });
      this._cameFrom = from.engine;
      const { notes } = prefill;
      this._set({ ...this._at(prefill), movingTo: null, prefill, notes });
      await this._fill(spec, this.form);
    } else {
      const refusal = this.state.failure;
      this._set({ movingTo: null, refusal, failure: null });
    }
    this._settle();
  }

  /** Read the script again and keep the user's values. The script is read later if the form is busy. */
  async readScript(): Promise<void> {
    if (!this.state.form) {
      return this.startFrom(this.state.start);
    }
    await this._readWhenIdle(false);
  }

  private async _readWhenIdle(keepsAnswer: boolean): Promise<void> {
    const { movingTo, filling, busy } = this.state;
    this._isReadDue = movingTo !== null || filling || busy !== null;
    if (!this._isReadDue) {
      await this._read(keepsAnswer);
    }
  }

  /**
   * Read the script.
   *
   * @param keepsAnswer - True to keep the server's answer to a form that stays as it is: it came while this read was
   * waiting. A script that is saved later may have been corrected.
   */
  private async _read(keepsAnswer: boolean): Promise<void> {
    this._isReadDue = false;
    this._set({ reading: true });
    const prefill = await this._load(this.spec);
    if (prefill) {
      const before = this._content; // the user may have edited the form during the request
      this._set({ prefill });
      const { args } = before.spec;
      const form = withArgs(this.form, args, this.scriptOptions);
      const isMoved = form.more !== this.form.more; // to the fields of options
      this._set({
        form,
        ...(isMoved && this.state.lastEdited === MORE && { lastEdited: null })
      });
      if (isSame(before, this._content)) {
        if (!keepsAnswer) {
          this._set({ refusal: null, dryRunPassed: false });
        }
        this._followForm();
      } else {
        this._edit(form);
      }
    }
    this._set({ reading: false });
  }

  /** Content of the form, however its fields show it. */
  private get _content(): { spec: JobSpec; sweep: ExpandSweep | null } {
    return { spec: this.spec, sweep: this.sweepRequest };
  }

  protected override async _readIfDue(): Promise<void> {
    if (this._isReadDue) {
      await this._read(true);
    }
  }

  protected override _settle(): void {
    if (this._isReadDue) {
      void this._readWhenIdle(true);
    }
  }

  /** Return the file's last submission from the store; null if there is none. */
  protected async _lastTime(): Promise<ILastTime | null> {
    const { path } = this.state;
    return path === null ? null : this._options.store.lastTime(path);
  }

  /** Return the location for a file that was never run. */
  protected async _usualLocation(): Promise<ILocation> {
    const engines = await this._askEngines();
    return usualLocation(engines, await this._options.store.lastLocation());
  }

  /** Return the engines; request them if the page does not have them yet. */
  private async _askEngines(): Promise<readonly EngineInfo[]> {
    if (this.engines.length || !this._options.jobs) {
      return this.engines;
    }
    return this._options.api.engines().catch(() => []); // the request that fills the form fails too and is reported
  }

  /** Return true if an engine is available, or if the engines are not known yet. */
  private _isAvailable(name: EngineName): boolean {
    const { engines } = this;
    return (
      !engines.length ||
      engines.some(info => info.name === name && info.available)
    );
  }

  /**
   * Return the spec to restore at an engine that the form moves to.
   *
   * This is the spec that the form had there before. At an engine that is new to the form, it is the spec of the engine
   * that the form came from, converted by the server. Null if there is neither.
   */
  private async _keptFor(
    location: ILocation
  ): Promise<Omit<ILeft, 'location'> | null> {
    const there = this._left.get(location.engine);
    const came = this._cameFrom && this._left.get(this._cameFrom);
    if (there || !came) {
      return there ?? null;
    }
    const prefill = await this._load(came.spec, location, came.location.engine);
    return prefill && { spec: prefill.spec, begun: came.begun };
  }

  /** Return the changes of the state for a location. Volumes and queues of another location are dropped. */
  protected _at({ engine, namespace }: ILocation): Partial<ILaunchState> {
    const { state } = this;
    return engine === state.engine && namespace === state.namespace
      ? {}
      : { engine, namespace, volumes: null, queues: null };
  }

  /**
   * Fill the form with a spec and request its preview.
   *
   * @param moved - The form at the engine that it comes from; null if it has a new content.
   */
  protected async _fill(
    spec: JobSpec,
    moved: ILaunchForm | null = null
  ): Promise<void> {
    this._replace(spec, moved);
    await this.preview.refresh();
  }

  /** Fill the form with a spec. */
  private _replace(spec: JobSpec, moved: ILaunchForm | null = null): void {
    const options = this.state.prefill?.script.options ?? [];
    this.preview.reset();
    this.sweepJobs.reset();
    this._edit(moved ? movedForm(moved, spec, options) : formOf(spec, options));
    this._applyCells();
    void this.presets.follow();
  }

  /**
   * Request a prefilled form from the server; set `failure` if the request fails.
   *
   * @param spec - The spec to fill in; undefined for the defaults.
   * @param crossedFrom - The engine for which the spec was written; null if it is the same engine.
   * @returns Null if the request failed or a newer request replaced it.
   */
  protected async _load(
    spec?: JobSpec,
    location = this._location,
    crossedFrom: EngineName | null = null
  ): Promise<Prefill | null> {
    const { path } = this.state;
    const loading = ++this._loading;
    let prefill: Prefill | null = null;
    let failure: ApiError | null = null;
    try {
      prefill = await this._options.api.prefill({
        path,
        ...(location.engine ? location : {}),
        spec: spec ?? null,
        crossed_from: crossedFrom,
        whole_notebook: this._isWholeNotebook
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

  /**
   * Request a prefilled form for a location; for the usual location if the server does not have the engine any more.
   *
   * @param spec - The spec to fill in; undefined for the defaults.
   * @returns The answer as `_load` returns it, and the location of the last request.
   */
  protected async _loadAt(
    location: ILocation,
    spec?: JobSpec
  ): Promise<{ prefill: Prefill | null; location: ILocation }> {
    const prefill = await this._load(spec, location);
    if (prefill || this.state.failure?.code !== 'NoSuchEngine') {
      return { prefill, location };
    }
    const usual = await this._usualLocation();
    return { prefill: await this._load(spec, usual), location: usual };
  }

  /** State of the form at each engine that it has left. */
  private readonly _left = new Map<EngineName, ILeft>();
  /** The engine that the form left last. */
  private _cameFrom: EngineName | null = null;
  /** True if the form runs a notebook's cells even if one of them starts a script. */
  private _isWholeNotebook = false;
  /** Cells that the user chose in the notebook, until the form is filled. */
  private _chosenCells: readonly ICellName[] | null = null;
  /** Number of the newest request for a prefilled form. Answers to older requests are dropped. */
  private _loading = 0;
  /** True if the script must be read as soon as the form is no longer busy. */
  private _isReadDue = false;
}
