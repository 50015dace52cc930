import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { actionsPlugin } from './plugins/actions';
import { choosePlugin } from './plugins/choose';
import { jobPlugin } from './plugins/job';
import { jobsPlugin } from './plugins/jobs';
import { launchPlugin } from './plugins/launch';
import { monitorPlugin } from './plugins/monitor';
import { nodesPlugin } from './plugins/nodes';
import { notificationsPlugin } from './plugins/notifications';
import { runningPlugin } from './plugins/running';
import { statusPlugin } from './plugins/status';
import { tensorBoardPlugin } from './plugins/tensorboard';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  jobsPlugin,
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
