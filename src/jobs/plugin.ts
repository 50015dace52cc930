/** Plugins that provide the list of jobs. */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';
import { ApiClient } from '../api/client';
import { Jobs } from './model/jobs';
import { IJobs, IJobsModel } from '../tokens';
import { whenIdle } from '../common/pacing';
import { loadTranslation } from '../common/translation';

/** Provides the jobs to the other plugins of this extension. The settings have the id of this plugin. */
export const jobsPlugin: JupyterFrontEndPlugin<IJobsModel> = {
  id: 'jupyterlab_t9kjob:plugin',
  description: 'Keeps the list of distributed jobs up to date.',
  autoStart: true,
  provides: IJobsModel,
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator | null
  ): IJobsModel => {
    const { serviceManager } = app;
    const { serverSettings, kernels, sessions, terminals } = serviceManager;
    const jobs = new Jobs(
      new ApiClient(serverSettings, loadTranslation(translator)),
      // The server imports most of our code at the first request, which would delay the lab's own requests.
      app.restored.then(() => whenIdle())
    );
    // A change of kernels, sessions or terminals shows that the server answers again.
    for (const manager of [kernels, sessions, terminals]) {
      manager.runningChanged.connect(() => {
        if (jobs.connection.state === 'lost') {
          jobs.reconnect();
        }
      });
    }
    return jobs;
  }
};

/** Provides the jobs to other extensions. */
export const publicJobsPlugin: JupyterFrontEndPlugin<IJobs> = {
  id: 'jupyterlab_t9kjob:jobs',
  description: 'Lets other extensions see and act on distributed jobs.',
  autoStart: true,
  provides: IJobs,
  requires: [IJobsModel],
  activate: (_: JupyterFrontEnd, jobs: IJobsModel): IJobs => jobs
};
