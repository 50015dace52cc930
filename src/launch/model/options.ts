import { TranslationBundle } from '@jupyterlab/translation';
import { ApiClient } from '../../api/client';
import { IJobsModel } from '../../tokens';
import { IClone, IManifest } from './state';
import { LaunchStore } from './store';

/** Which launch form to open. */
export interface ILaunchOptions {
  api: ApiClient;
  store: LaunchStore;
  trans: TranslationBundle;
  /** Names the tab in the store. */
  tab: string;
  /** The file, as the contents API names it without a drive; null for a job that runs none. */
  path: string | null;
  clone?: IClone | null;
  manifest?: IManifest | null;
  /** Tells of the engines as they are now, and of what is free. */
  jobs?: Pick<IJobsModel, 'engines' | 'changed' | 'capacity' | 'watchCapacity'>;
  /** Images that the settings offer. */
  presetImages?: () => readonly string[];
}
