/** Tokens, interfaces and command ids of this extension. */

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
  Notice,
  TensorBoard
} from './api/types';

/** State of the connection to the server part; times in seconds since the epoch. */
export type Connection =
  | { state: 'connecting'; since: number }
  | { state: 'open' }
  | {
      state: 'lost';
      since: number;
      nextTry: number | null;
      /** True if the server answers but refuses this page's requests (401 or 403). */
      refused: boolean;
    }
  /** The server part is not installed or not enabled: its routes answer 404. */
  | { state: 'missing' };

/** Live view of one job. The server pushes the job's details until the watch is disposed. */
export interface IJobWatch extends IDisposable {
  readonly id: string;
  /** The job's details; `undefined` before the first message, `null` if the job does not exist. */
  readonly detail: JobDetail | null | undefined;
  readonly changed: ISignal<IJobWatch, void>;
}

/**
 * All jobs of all engines, which the server's pushes keep up to date. Other extensions use this interface.
 *
 * Commands open a job's tab and the launch form, see `CommandIDs`.
 */
export interface IJobs {
  /** All jobs, newest first; empty until `ready` resolves. */
  readonly jobs: readonly JobSummary[];
  /** State of the connection. While it is not open, `jobs` is the last known state. */
  readonly connection: Connection;
  /** Resolves when the first snapshot has arrived. */
  readonly ready: Promise<void>;
  /**
   * Emitted when any shown data has changed, up to every few milliseconds. Listeners that render
   * must limit their rate.
   */
  readonly changed: ISignal<IJobs, void>;
  /** Emitted when a job has changed from an active phase to a finished phase while the page is open. */
  readonly ended: ISignal<IJobs, JobSummary>;

  /** Return a job by its id, including deleted jobs while these are shown. */
  get(id: string): JobSummary | undefined;
  /** Subscribe to one job's details, until the watch is disposed. */
  watch(id: string): IJobWatch;
  /**
   * Stop, pause, resume, rerun, remove or delete a job, without a confirmation dialog.
   *
   * @param id - Id of the job.
   * @param action - One of the job's `actions`.
   * @param options - `remove`: delete the record and the logs as well; only for the action `delete`.
   * @returns The server's answer; for `rerun`, the new job.
   */
  act(
    id: string,
    action: Action,
    options?: { remove?: boolean }
  ): Promise<Job | null>;
}

/** Token with which other extensions require the jobs. */
export const IJobs = new Token<IJobs>(
  'jupyterlab_t9kjob:IJobs',
  'Distributed jobs of all engines: list, live state, actions.'
);

/** Deleted jobs whose records are kept. */
export interface IDeletedJobs {
  /** Newest first; null while they are not shown or not loaded yet. */
  readonly jobs: readonly JobSummary[] | null;
  /** Message of the error that prevented reading them; null if there is none. */
  readonly error: string | null;
  /** Read the list, and keep it current until the returned object is disposed. */
  watch(): IDisposable;
}

/** The jobs and all other data that the server pushes, for the plugins of this extension. */
export interface IJobsModel extends IJobs, IDisposable {
  readonly api: ApiClient;
  /** Deleted jobs, which are loaded while they are shown. */
  readonly deleted: IDeletedJobs;
  readonly tensorboards: readonly TensorBoard[];
  readonly engines: readonly EngineInfo[];
  /**
   * Free capacity of the cluster, kept up to date while at least one client subscribes to it.
   *
   * Null without a cluster, before the first complete count, and while the cluster is counted again.
   */
  readonly capacity: Capacity | null;
  /**
   * Time at which the shown state was last known to be current, in seconds; the current time while
   * the connection is open.
   */
  readonly asOf: number | null;
  readonly changed: ISignal<IJobsModel, void>;
  readonly ended: ISignal<IJobsModel, JobSummary>;
  /** Emitted when a running job has begun to make no progress while the page is open. */
  readonly stalled: ISignal<IJobsModel, JobSummary>;
  /** Emitted once for each event of a job of the user, such as its end, that happens while the page is open. */
  readonly noticed: ISignal<IJobsModel, Notice>;

  /**
   * Subscribe to the cluster's capacity until the returned object is disposed. The server counts only for
   * subscribers.
   */
  watchCapacity(): IDisposable;
  /** Try to connect now instead of at the next scheduled attempt. */
  reconnect(): void;
}

/** Token of the jobs for the plugins of this extension. */
export const IJobsModel = new Token<IJobsModel>(
  'jupyterlab_t9kjob:IJobsModel',
  'For the plugins of jupyterlab_t9kjob alone; other extensions require IJobs.'
);

/**
 * Ids of this extension's commands.
 *
 * The actions on a job and the commands for its directories take the job's `id?`; the default is the
 * job of the current tab.
 */
export namespace CommandIDs {
  /** Open the launch form. Args: `path?` (contents path); by default the clicked or current file. */
  export const launch = 't9kjob:launch';
  /** Open the launch form with the selected cells of the current notebook. */
  export const launchCells = 't9kjob:launch-cells';
  /** Ask for a script or notebook, then open the launch form with it. */
  export const chooseScript = 't9kjob:choose-script';
  /** Ask for the text of a manifest, then open the launch form with it. */
  export const pasteManifest = 't9kjob:paste-manifest';
  /** Open the launch form with a job's spec. Args: `id` of the job. */
  export const clone = 't9kjob:clone';
  /** Submit the launch form of the current tab. */
  export const submit = 't9kjob:submit';
  /**
   * Open a job's tab. Args: `id`; `tab?`, one of overview, replicas, logs, yaml; `stream?` and `offset?`
   * of a position in a log; `time?` in a log, in seconds since the epoch.
   */
  export const openJob = 't9kjob:open-job';

  /** Show the jobs of a sweep in a table with their values and metrics. Args: `id` of the sweep. */
  export const compareSweep = 't9kjob:compare-sweep';

  /** Compare arguments, results and curves of the jobs of a sweep. Args: `id` of the sweep. */
  export const compareSweepJobs = 't9kjob:compare-sweep-jobs';

  /** Stop all jobs of a sweep. */
  export const stopSweep = 't9kjob:stop-sweep';

  /** Create new jobs for those of a sweep that failed. */
  export const retrySweep = 't9kjob:retry-sweep';

  /** Delete all jobs of a sweep. */
  export const deleteSweep = 't9kjob:delete-sweep';
  /** Open the settings of notifications: which events are shown where, and the webhook. */
  export const openNotifications = 't9kjob:open-notifications';
  /** Focus the search field of the current tab's log. */
  export const searchLog = 't9kjob:search-log';
  /** Show or hide the times of the lines in the current tab's log. */
  export const toggleLogTimes = 't9kjob:toggle-log-times';
  /** Wrap long lines in the current tab's log, or stop wrapping them. */
  export const toggleLogWrap = 't9kjob:toggle-log-wrap';
  /** Select the whole text of the current tab's log. */
  export const selectLog = 't9kjob:select-log';
  /** Copy the selected lines of the current tab's log with their ranks and times. */
  export const copyLogWithRanks = 't9kjob:copy-log-with-ranks';
  /**
   * Open a TensorBoard. Args: `id?` of a TensorBoard, `jobId?`, `path?` of a folder, or `paths?` of several
   * folders; by default the clicked folder.
   */
  export const openTensorBoard = 't9kjob:open-tensorboard';
  /** Ask for a folder, then open it in TensorBoard. */
  export const chooseLogDirectory = 't9kjob:choose-log-directory';
  /**
   * Open a terminal in a job. Args: `id?` of the job; `replica?` and `rank?`, by default the first replica that
   * runs. Without `id` the user chooses the place in the job of the current tab.
   */
  export const openTerminal = 't9kjob:open-terminal';
  /** Restart a TensorBoard. Args: `id?`; by default the TensorBoard of the current tab. */
  export const restartTensorBoard = 't9kjob:restart-tensorboard';
  /** Stop a TensorBoard. Args: `id?`; by default the TensorBoard of the current tab. */
  export const stopTensorBoard = 't9kjob:stop-tensorboard';
  /** Detect the engines and the permissions again. */
  export const refresh = 't9kjob:refresh';
  /** Show the sidebar. */
  export const showJobs = 't9kjob:show-jobs';
  /**
   * Open a page of the experiments. Args: `page?`, one of runs (by default), run, comparison, artifact; `ids?` of
   * runs or of an artifact; for the page runs `folder?` and `filter?`.
   */
  export const openExperiments = 't9kjob:open-experiments';
  /**
   * Open a page about all jobs. Args: `page?`, one of table (by default), compare, sweep, space; `ids?` of jobs, or of the
   * sweep. For the page compare and one id, the user is asked for the other jobs.
   */
  export const openAllJobs = 't9kjob:open-all-jobs';

  export const importJob = 't9kjob:import-job';
  /** Open the table of the cluster's nodes. */
  export const showNodes = 't9kjob:show-nodes';
  /** Stop a job, after a confirmation. */
  export const stop = 't9kjob:stop';
  /** Pause a job, after a confirmation if it has started. */
  export const pause = 't9kjob:pause';
  /** Resume a paused job. */
  export const resume = 't9kjob:resume';
  /** Run a job again as a new job, and open the new job. */
  export const rerun = 't9kjob:rerun';
  /** Delete the record and the logs of a deleted job, after a confirmation. */
  export const remove = 't9kjob:remove';
  /** Delete a job, after a confirmation. */
  export const deleteJob = 't9kjob:delete';
  /** Show a job's working directory in the file browser. */
  export const openWorkingDirectory = 't9kjob:open-working-directory';
  /** Show a job's log directory in the file browser. */
  export const openLogDirectory = 't9kjob:open-log-directory';
}
