import { IStateDB } from '@jupyterlab/statedb';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { EngineName } from '../api/aliases';
import { JobSpec } from '../api/types';
import { ILaunchForm } from './launchForm';
import { IClone, Start } from './launchState';

const PREFIX = 'jupyterlab_t9kjob:launch';

/** What a file was last submitted with. */
export interface ILastTime {
  spec: JobSpec;
  /** Seconds since the epoch. */
  time: number;
}

/** An open launch tab, so that its edits survive a reload of the page. */
export interface ISavedTab {
  path: string | null;
  engine: EngineName;
  namespace: string;
  start: Start;
  clone: IClone | null;
  form: ILaunchForm;
  /** What the form amounts to. */
  spec: JobSpec;
}

/** What launch tabs remember, in the lab's state database; nothing without one. */
export class LaunchStore {
  constructor(private readonly _db: IStateDB | null) {}

  lastTime(path: string): Promise<ILastTime | null> {
    return this._fetch<ILastTime>(`last:${path}`);
  }

  saveLastTime(path: string, last: ILastTime): Promise<void> {
    return this._save(`last:${path}`, last);
  }

  tab(id: string): Promise<ISavedTab | null> {
    return this._fetch<ISavedTab>(`tab:${id}`);
  }

  saveTab(id: string, tab: ISavedTab): Promise<void> {
    return this._save(`tab:${id}`, tab);
  }

  async removeTab(id: string): Promise<void> {
    await this._db?.remove(`${PREFIX}-tab:${id}`);
  }

  /** Which groups of the form are open, where that is not as at first. */
  async openGroups(): Promise<Record<string, boolean>> {
    return (await this._fetch<Record<string, boolean>>('groups')) ?? {};
  }

  saveOpenGroups(groups: Record<string, boolean>): Promise<void> {
    return this._save('groups', groups);
  }

  private async _fetch<T extends object>(key: string): Promise<T | null> {
    const value = await this._db?.fetch(`${PREFIX}-${key}`);
    return (value as unknown as T | undefined) ?? null;
  }

  private async _save(key: string, value: object): Promise<void> {
    await this._db?.save(
      `${PREFIX}-${key}`,
      value as ReadonlyPartialJSONObject
    );
  }
}
