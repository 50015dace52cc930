/** Plugin that shows a notification when a job ends, and when it makes no progress. */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';
import { IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';

/** Shows notifications about the ends and delays of the user's jobs, unless the job's tab is visible. */
export const notificationsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:notifications',
  description: 'Notifies of the ends and delays of distributed jobs.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [ISettingRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    registry: ISettingRegistry | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const settings = registry
      ?.load('jupyterlab_t9kjob:plugin')
      .catch((error: unknown) => {
        // Without settings, use their defaults.
        console.warn('t9kjob: settings:', error);
        return undefined;
      });
    jobs.noticed.connect(async (_, notice) => {
      const { showNotice } = await import('./notices');
      showNotice(notice, { app, jobs, settings: await settings, trans });
    });
  }
};
