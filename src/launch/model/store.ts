/** Persistent data of launch forms in the lab's state database. */
import { IStateDB } from '@jupyterlab/statedb';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Check, CreateSweep, JobSpec } from '../../api/types';
import { ILaunchForm } from '../content/form';
import { ILocation } from '../../cluster/model/locations';
import {
  IClone,
  IEditedManifest,
  ILastSubmission,
  ILastTime,
  IManifest,
  JobRequest,
  Start
} from './state';

const PREFIX = 'jupyterlab_t9kjob:launch';

/** Number of images to remember. */
const IMAGES = 5;

/** Content of an open launch tab. It is restored after a reload of the page. */
export interface ISavedTab extends ILocation {
  path: string | null;
  start: Start;
  clone: IClone | null;
  title: string | null;
  manifest: IEditedManifest | null;
  /** The manifest that the user has written before; missing in tabs that older versions saved. */
  written?: string | null;
  notes: Check[];
  /** Content of the form, including incomplete rows and invalid texts. */
  form: ILaunchForm;
  /** The spec that the form describes. */
  spec: JobSpec;
  /** The spec of the cloned job; missing in tabs that older versions saved. */
  original?: JobSpec | null;
  /** The last request to create the job; missing in tabs that older versions saved. */
  sent?: JobRequest | null;
  /** The last request to create the jobs of a sweep; missing in tabs that older versions saved. */
  sentSweep?: CreateSweep | null;
}

/** Job or manifest with which a tab was opened. It fills the form after a reload if the tab itself is not saved. */
export interface ITabSource {
  clone: IClone | null;
  manifest: IManifest | null;
}

/** Stores last submissions, open tabs, images and open groups. Without a state database nothing is stored. */
export class LaunchStore {
  constructor(private readonly _db: IStateDB | null) {}

  /** Return a file's last submission. */
  lastTime(path: string): Promise<ILastTime | null> {
    return this._fetch<ILastTime>(`last:${path}`);
  }

  /** Store a file's last submission. */
  saveLastTime(path: string, last: ILastTime): Promise<void> {
    return this._save(`last:${path}`, last);
  }

  /** Return the last submission of any file. */
  lastSubmission(): Promise<ILastSubmission | null> {
    return this._fetch<ILastSubmission>('last-submission');
  }

  /** Store the last submission. */
  saveLastSubmission(last: ILastSubmission): Promise<void> {
    return this._save('last-submission', last);
  }

  /** Return the saved content of an open tab. */
  tab(id: string): Promise<ISavedTab | null> {
    return this._fetch<ISavedTab>(`tab:${id}`);
  }

  /** Store the content of an open tab. */
  async saveTab(id: string, tab: ISavedTab): Promise<void> {
    await this._save(`tab:${id}`, tab);
    await this.removeSource(id);
  }

  /** Return what an open tab was opened with; null for a file, and if the tab itself is saved. */
  async source(id: string): Promise<ITabSource | null> {
    const source = await this._fetch<ITabSource>(`source:${id}`);
    if (source) {
      this._sources.add(id);
    }
    return source;
  }

  /** Store what a tab was opened with. */
  saveSource(id: string, source: ITabSource): Promise<void> {
    this._sources.add(id);
    return this._save(`source:${id}`, source);
  }

  /** Forget what a tab was opened with. */
  async removeSource(id: string): Promise<void> {
    if (this._sources.delete(id)) {
      await this._db?.remove(`${PREFIX}-source:${id}`);
    }
  }

  /** Delete the content of a closed tab. */
  async removeTab(id: string): Promise<void> {
    await this._db?.remove(`${PREFIX}-tab:${id}`);
    this._sources.add(id); // it may be from before a reload of the page
    await this.removeSource(id);
  }

  /** Return the location of the job that was submitted last. */
  lastLocation(): Promise<ILocation | null> {
    return this._fetch<ILocation>('place');
  }

  /** Store the location of a submitted job. */
  saveLastLocation(location: ILocation): Promise<void> {
    return this._save('place', location);
  }

  /** Return the images of earlier jobs, the most recent first. */
  async images(): Promise<string[]> {
    return (await this._fetch<string[]>('images')) ?? [];
  }

  /** Move an image to the front of the remembered images. */
  async saveImage(image: string): Promise<void> {
    const others = (await this.images()).filter(other => other !== image);
    await this._save('images', [image, ...others].slice(0, IMAGES));
  }

  /**
   * Return true or false for each group of the form that the user opened or closed; other groups have their default.
   */
  async openGroups(): Promise<Record<string, boolean>> {
    return (await this._fetch<Record<string, boolean>>('groups')) ?? {};
  }

  /** Store the groups that the user opened or closed. */
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

  /** Tabs with a stored source: most saves of a tab have none to remove. */
  private readonly _sources = new Set<string>();
}
