/** Entry point of the extension: its plugins, and the types and tokens for other extensions. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { allJobsPlugin } from './alljobs/plugin';
import { actionsPlugin } from './job/actions';
import { choosePlugin } from './lab/choose';
import { experimentsPlugin } from './experiments/plugin';
import { jobPlugin } from './job/plugin';
import { jobsPlugin, publicJobsPlugin } from './jobs/plugin';
import { launchPlugin } from './launch/plugin';
import { monitorPlugin } from './sidebar/plugin';
import { nodesPlugin } from './cluster/plugin';
import { notificationSettingsPlugin } from './notifications/plugin';
import { notificationsPlugin } from './lab/notifications';
import { runningPlugin } from './lab/running';
import { statusPlugin } from './lab/status';
import { tensorBoardPlugin } from './tensorboard/plugin';
import { terminalPlugin } from './terminal/plugin';

export type { Action, Phase } from './api/aliases';
export type {
  Job,
  JobDetail,
  JobSpec,
  JobSummary,
  Progress,
  Reason,
  Replica
} from './api/types';
export { CommandIDs, IJobs } from './tokens';
export type { Connection, IJobWatch } from './tokens';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  jobsPlugin,
  publicJobsPlugin,
  actionsPlugin,
  allJobsPlugin,
  choosePlugin,
  experimentsPlugin,
  jobPlugin,
  launchPlugin,
  monitorPlugin,
  nodesPlugin,
  notificationSettingsPlugin,
  notificationsPlugin,
  runningPlugin,
  statusPlugin,
  tensorBoardPlugin,
  terminalPlugin
];

export default plugins;
