import { Token } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal } from '@lumino/signaling';
import { Action } from './api/aliases';
import { ApiClient } from './api/client';
import {
  Capacity,
  EngineInfo,
  Job,
  JobDetail,
  JobSummary,
  TensorBoard
} from './api/types';

/** What the page knows of the connection to the server part; times in seconds. */
export type Connection =
  | { state: 'connecting'; since: number }
  | { state: 'open' }
  | {
      state: 'lost';
      since: number;
      nextTry: number | null;
      /** The server answers, but refuses this page's requests (401 or 403). */
      refused: boolean;
    }
  /** The server part is not installed or not enabled (404 from our routes). */
  | { state: 'missing' };

/** Live view of one job: held while a tab shows it, so that the server pushes its details. */
export interface IJobWatch extends IDisposable {
  readonly id: string;
  /** `undefined` before the first answer, `null` when the job is gone. */
  readonly detail: JobDetail | null | undefined;
  readonly changed: ISignal<IJobWatch, void>;
}

/**
 * All jobs of all engines, kept up to date by the server's pushes: what other extensions build on.
 *
 * A job's tab and the launch form are opened by commands, see `CommandIDs`.
 */
export interface IJobs {
  /** Newest first. Empty until `ready`. */
  readonly jobs: readonly JobSummary[];
  /** While it is not open, the jobs are as they were when it was. */
  readonly connection: Connection;
  /** Resolves with the first snapshot. */
  readonly ready: Promise<void>;
  /** Anything that is shown has changed; may come every few milliseconds, so listeners that render limit their rate. */
  readonly changed: ISignal<IJobs, void>;
  /** A job went from an active phase to a finished one while the page was open. */
  readonly ended: ISignal<IJobs, JobSummary>;

  /** Look up a job in the lists. */
  get(id: string): JobSummary | undefined;
  /** Ask the server to push one job's details until the watch is disposed. */
  watch(id: string): IJobWatch;
  /**
   * Stop, pause, resume, rerun, remove or delete a job, without asking the user.
   *
   * @param id - Of the job.
   * @param action - One of the job's `actions`.
   * @param options - `remove`: delete the record and the logs as well; for `delete` only.
   * @returns What the server answered: for `rerun` the new job.
   */
  act(
    id: string,
    action: Action,
    options?: { remove?: boolean }
  ): Promise<Job | null>;
}

/** The token by which other extensions reach the jobs. */
export const IJobs = new Token<IJobs>(
  'jupyterlab_t9kjob:IJobs',
  'Distributed jobs of all engines: list, live state, actions.'
);

/** Jobs that were deleted and whose records are kept. */
export interface IDeletedJobs {
  /** Newest first; null while they are not shown, or not known yet. */
  readonly jobs: readonly JobSummary[] | null;
  /** Why they could not be read, in words. */
  readonly error: string | null;
  /** Have them read, or forget them. */
  show(shown: boolean): void;
}

/** The jobs, and all else that the server pushes, for this extension's own plugins. */
export interface IJobsModel extends IJobs, IDisposable {
  readonly api: ApiClient;
  /** Deleted ones whose records are kept, while they are asked for. */
  readonly deleted: IDeletedJobs;
  readonly tensorboards: readonly TensorBoard[];
  readonly engines: readonly EngineInfo[];
  /**
   * What of the cluster is free, while that is watched.
   *
   * Null without a cluster, before it is known, and again while the cluster, or another one, is counted anew.
   */
  readonly capacity: Capacity | null;
  /** When the shown state was true, in seconds; differs from now while the connection is lost. */
  readonly asOf: number | null;
  readonly changed: ISignal<IJobsModel, void>;
  readonly ended: ISignal<IJobsModel, JobSummary>;

  /** Ask the server to push what of the cluster is free until this is disposed: it counts only while it is asked. */
  watchCapacity(): IDisposable;
  /** Try to connect now instead of at the next try. */
  reconnect(): void;
}

export const IJobsModel = new Token<IJobsModel>(
  'jupyterlab_t9kjob:IJobsModel',
  'For the plugins of jupyterlab_t9kjob alone; other extensions require IJobs.'
);

/** Commands of this extension. */
export namespace CommandIDs {
  /** Args: `path?` (contents path); else what was clicked or is in front. */
  export const launch = 't9kjob:launch';
  /** Ask for a script or notebook, then launch it. */
  export const chooseScript = 't9kjob:choose-script';
  /** Ask for the text of a manifest, then open the form with it. */
  export const pasteManifest = 't9kjob:paste-manifest';
  /** Args: `id` of the job whose spec the form starts from. */
  export const clone = 't9kjob:clone';
  /** Submit the form of the tab in front. */
  export const submit = 't9kjob:submit';
  /** Args: `id`; `tab?` one of overview, replicas, logs, yaml; `stream?`, `offset?` for a log position. */
  export const openJob = 't9kjob:open-job';
  /** Commands of the log in front. */
  export const searchLog = 't9kjob:search-log';
  export const toggleLogTimes = 't9kjob:toggle-log-times';
  export const toggleLogWrap = 't9kjob:toggle-log-wrap';
  export const selectLog = 't9kjob:select-log';
  export const copyLogWithRanks = 't9kjob:copy-log-with-ranks';
  /** Args: `id?` of a TensorBoard, `jobId?`, or `path?` of a folder; else the folder clicked. */
  export const openTensorBoard = 't9kjob:open-tensorboard';
  /** Ask for a folder, then open it in TensorBoard. */
  export const chooseLogDirectory = 't9kjob:choose-log-directory';
  /** Args: `id` of a TensorBoard, or else the one in front. */
  export const restartTensorBoard = 't9kjob:restart-tensorboard';
  export const stopTensorBoard = 't9kjob:stop-tensorboard';
  /** Look again at which engines there are and what may be done. */
  export const refresh = 't9kjob:refresh';
  /** Reveal the sidebar. */
  export const showJobs = 't9kjob:show-jobs';
  /** Open the table of the cluster's nodes. */
  export const showNodes = 't9kjob:show-nodes';
  /** Args of the actions: `id`. Those that lose something ask first. */
  export const stop = 't9kjob:stop';
  export const pause = 't9kjob:pause';
  export const resume = 't9kjob:resume';
  export const rerun = 't9kjob:rerun';
  export const remove = 't9kjob:remove';
  export const deleteJob = 't9kjob:delete';
  /** Args: `id`. Reveal the job's working or log directory in the file browser. */
  export const openWorkingDirectory = 't9kjob:open-working-directory';
  export const openLogDirectory = 't9kjob:open-log-directory';
}
