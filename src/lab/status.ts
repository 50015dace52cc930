/** Plugin that counts active jobs in the status bar. */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator } from '@jupyterlab/translation';
import { IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { StatusWidget } from './statusItem';

/** Adds the counts of the user's own active jobs to the status bar. */
export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:status',
  description: 'Counts running and waiting jobs in the status bar.',
  autoStart: true,
  requires: [IJobsModel, IStatusBar],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    statusBar: IStatusBar,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const item = new StatusWidget(jobs, app.commands, trans);
    statusBar.registerStatusItem('jupyterlab_t9kjob:status', {
      item,
      align: 'left',
      rank: 20,
      isActive: () => item.isActive,
      activeStateChanged: item.activeChanged
    });
  }
};
