/** Presets and locks of the launch form: requests, and what the server answered. */
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { HttpClient } from '../../api/http';
import { memoized } from '../../common/memo';
import { ILaunchForm } from '../content/form';
import { locksByField } from '../content/locks';
import {
  ApplyPreset,
  AppliedPreset,
  Lock,
  Preset,
  PresetList,
  SavePreset,
  ScriptOption
} from '../../api/types';

const NO_LOCKS: ReadonlyMap<string, Lock> = new Map();
const NONE: PresetList = { presets: [], locks: [], problems: [] };

/** The requests. They are not part of `ApiClient`, which is loaded with the lab. */
export class PresetsClient extends HttpClient {
  /** Return the presets and locks for the form of an engine. */
  list(engine: string): Promise<PresetList> {
    return this._get(['launch', 'presets'], { engine });
  }

  /** Save a preset of the user. */
  save(body: SavePreset): Promise<Preset> {
    return this._send('POST', ['launch', 'presets'], { body });
  }

  /** Rename a preset of the user. */
  rename(id: string, name: string): Promise<Preset> {
    return this._send('POST', ['launch', 'presets', id], { body: { name } });
  }

  /** Delete a preset of the user. */
  delete(id: string): Promise<void> {
    return this._send('DELETE', ['launch', 'presets', id]);
  }

  /** Return a spec with the values of a preset. */
  apply(body: ApplyPreset): Promise<AppliedPreset> {
    return this._send('POST', ['launch', 'applied-preset'], { body });
  }
}

/** Presets and locks for the engine of a form. */
export class LaunchPresets {
  constructor(
    readonly client: PresetsClient,
    private readonly _engine: () => string
  ) {}

  /** Emitted when the presets or locks have changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The presets and locks of the last answer for the engine; empty before it. */
  get list(): PresetList {
    return this._list;
  }

  /** Error of the last request for the list; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** Return the locks by the form's fields; none before the form is filled. */
  locksAt(
    form: ILaunchForm | null,
    options: readonly ScriptOption[]
  ): ReadonlyMap<string, Lock> {
    const { locks } = this._list;
    return form && locks.length
      ? this._locksOf({ locks, form, options })
      : NO_LOCKS;
  }

  /** Request the list again. */
  async load(): Promise<void> {
    const engine = this._engine();
    // Without an answer the locks stay; those of another engine mean nothing here.
    let list = engine === this._asked ? this._list : NONE;
    let failure: ApiError | null = null;
    try {
      list = await this.client.list(engine);
    } catch (error) {
      failure = expectApiError(error);
    }
    if (engine === this._engine() && !this._isDisposed) {
      this._asked = engine;
      this._list = list;
      this._failure = failure;
      this._changed.emit();
    }
  }

  /** Request the list if the form has moved to another engine. */
  async follow(): Promise<void> {
    if (this._asked !== this._engine()) {
      await this.load();
    }
  }

  /** Drop the listeners. */
  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private readonly _locksOf = memoized(locksByField);
  private readonly _changed = new Signal<this, void>(this);
  private _list = NONE;
  private _failure: ApiError | null = null;
  private _asked: string | null = null;
  private _isDisposed = false;
}
