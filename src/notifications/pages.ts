/** Entry of the chunk that is loaded when the tab “Notifications” is opened. */
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { TranslationBundle } from '@jupyterlab/translation';
import { IJobsModel } from '../tokens';
import { NotificationsClient } from './client';
import { NotificationSettings } from './model/settings';
import { NotificationsWidget } from './widget';

/**
 * Create the tab's content.
 *
 * @param jobs - The jobs, which know the server.
 * @param registry - Settings of the lab; null if the lab has none.
 */
export async function createNotifications(
  jobs: IJobsModel,
  registry: ISettingRegistry | null,
  trans: TranslationBundle
): Promise<NotificationsWidget> {
  const settings = await registry
    ?.load('jupyterlab_t9kjob:plugin')
    .catch((error: unknown) => {
      // The server's part can still be changed.
      console.warn('t9kjob: settings:', error);
      return null;
    });
  const client = new NotificationsClient(jobs.api.serverSettings, trans);
  return new NotificationsWidget(
    new NotificationSettings(client, settings ?? null),
    trans
  );
}
