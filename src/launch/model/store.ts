import { IStateDB } from '@jupyterlab/statedb';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Check, JobSpec } from '../../api/types';
import { ILaunchForm } from './form';
import { IPlace } from '../../cluster/model/places';
import { IClone, IEditedManifest, ILastTime, JobRequest, Start } from './state';

const PREFIX = 'jupyterlab_t9kjob:launch';

/** Images that are remembered. */
const IMAGES = 5;

/** An open launch tab, so that its edits survive a reload of the page. */
export interface ISavedTab extends IPlace {
  path: string | null;
  start: Start;
  clone: IClone | null;
  title: string | null;
  manifest: IEditedManifest | null;
  notes: Check[];
  form: ILaunchForm;
  /** What the form amounts to. */
  spec: JobSpec;
  /** Missing in tabs that older versions have kept. */
  sent?: JobRequest | null;
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

  /** Where the last job was submitted to. */
  lastPlace(): Promise<IPlace | null> {
    return this._fetch<IPlace>('place');
  }

  saveLastPlace(place: IPlace): Promise<void> {
    return this._save('place', place);
  }

  /** Images of earlier jobs, the last first. */
  async images(): Promise<string[]> {
    return (await this._fetch<string[]>('images')) ?? [];
  }

  async saveImage(image: string): Promise<void> {
    const others = (await this.images()).filter(other => other !== image);
    await this._save('images', [image, ...others].slice(0, IMAGES));
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
