/** Plugin that opens the settings of notifications, and jobs whose address a message contains. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';
import { loadTranslation } from '../common/translation';
import { DeferredWidget } from '../shell/deferred';
import { showTab } from '../shell/showTab';
import { CommandIDs, IJobsModel } from '../tokens';
import { jobIcon } from '../ui/icons';
import type { NotificationsWidget } from './widget';

type Tab = DeferredWidget<NotificationsWidget>;

/** Adds the command that opens the tab “Notifications”, and opens the job of a copied address. */
export const notificationSettingsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:notification-settings',
  description: 'Settings of notifications about distributed jobs.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [ISettingRegistry, ILayoutRestorer, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    registry: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const { commands, shell } = app;
    const tracker = new WidgetTracker<Tab>({
      namespace: 't9kjob-notifications'
    });
    const create = (): Tab => {
      const tab: Tab = new DeferredWidget<NotificationsWidget>({
        load: async () => {
          const { createNotifications } = await import('./pages');
          return createNotifications(jobs, registry, trans);
        },
        trans
      });
      tab.id = 't9kjob-notifications';
      tab.node.tabIndex = -1;
      tab.title.icon = jobIcon;
      tab.title.label = trans.__('Notifications');
      tab.title.closable = true;
      void tab.load();
      void tracker.add(tab);
      return tab;
    };
    const command = CommandIDs.openNotifications;
    commands.addCommand(command, {
      label: trans.__('Distributed Jobs: Notifications…'),
      caption: trans.__('Choose which events of your jobs are shown where'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => showTab(shell, tracker.find(() => true) ?? create())
    });
    palette?.addItem({ command, category: trans.__('Distributed Jobs') });
    void restorer?.restore(tracker, { command, name: () => 'notifications' });

    const address = new URLSearchParams(location.search);
    const id = address.get('t9kjob-job');
    if (id !== null) {
      const stream = address.get('stream');
      const offset = Number(address.get('offset'));
      const view = address.get('log');
      const place = {
        ...(stream !== null && { stream, offset }),
        ...(view !== null && { view })
      };
      void Promise.all([app.restored, jobs.ready]).then(() =>
        commands.execute(CommandIDs.openJob, { id, ...place })
      );
    }
  }
};
