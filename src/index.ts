import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { actionsPlugin } from './plugins/actions';
import { choosePlugin } from './plugins/choose';
import { jobPlugin } from './plugins/job';
import { jobsPlugin, publicJobsPlugin } from './plugins/jobs';
import { launchPlugin } from './plugins/launch';
import { monitorPlugin } from './plugins/monitor';
import { nodesPlugin } from './plugins/nodes';
import { notificationsPlugin } from './plugins/notifications';
import { runningPlugin } from './plugins/running';
import { statusPlugin } from './plugins/status';
import { tensorBoardPlugin } from './plugins/tensorboard';

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
  choosePlugin,
  jobPlugin,
  launchPlugin,
  monitorPlugin,
  nodesPlugin,
  notificationsPlugin,
  runningPlugin,
  statusPlugin,
  tensorBoardPlugin
];

export default plugins;
