/** What a launch tab is opened with, and what it shows. */
import { TranslationBundle } from '@jupyterlab/translation';
import { EngineName } from '../api/aliases';
import { ApiClient, ApiError } from '../api/client';
import { JobSpec, Prefill } from '../api/types';
import { ILaunchForm } from './launchForm';
import { ILastTime, LaunchStore } from './launchStore';

/** What a form can start from. */
export type Start = 'last' | 'job' | 'defaults';

/** The job whose spec a form starts from. */
export interface IClone {
  name: string;
  spec: JobSpec;
}

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
}

/** What a launch tab shows. */
export interface ILaunchState {
  /** The file that the form is for; null if the job runs none. */
  path: string | null;
  engine: EngineName;
  namespace: string;
  start: Start;
  clone: IClone | null;
  /** What the file was last submitted with. */
  lastTime: ILastTime | null;
  /** What the server filled in; null before the first answer. */
  prefill: Prefill | null;
  /** Why the server could not fill it in. */
  failure: ApiError | null;
  form: ILaunchForm | null;
  busy: 'submitting' | 'checking' | null;
  /** The server's refusal of the form as it is. */
  refusal: ApiError | null;
  /** The last dry run found nothing wrong, and nothing was changed since. */
  dryRunPassed: boolean;
}
