/** Options with which a launch form is opened. */
import { TranslationBundle } from '@jupyterlab/translation';
import { ApiClient } from '../../api/client';
import { IJobsModel } from '../../tokens';
import { IClone, IManifest } from './state';
import { LaunchStore } from './store';

/** Services and start values of a launch form. */
export interface ILaunchOptions {
  api: ApiClient;
  store: LaunchStore;
  trans: TranslationBundle;
  /** Id of the tab in the store. */
  tab: string;
  /** Path of the file in the contents API, without a drive; null for a job without a file. */
  path: string | null;
  /** The job whose spec fills the form. */
  clone?: IClone | null;
  /** The manifest that fills the form. */
  manifest?: IManifest | null;
  /** Current engines and capacity. */
  jobs?: Pick<IJobsModel, 'engines' | 'changed' | 'capacity' | 'watchCapacity'>;
  /** Returns the images that the settings offer. */
  presetImages?: () => readonly string[];
}
