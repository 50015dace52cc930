/** Plugin of the terminals in jobs: command, and tabs that are restored without their shell. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  IThemeManager,
  WidgetTracker
} from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';
import { terminalIcon } from '@jupyterlab/ui-components';
import { loadTranslation } from '../common/translation';
import { DeferredWidget } from '../shell/deferred';
import { notifyError } from '../shell/notices';
import { showTab } from '../shell/showTab';
import { CommandIDs, IJobsModel } from '../tokens';
import type { IShellPlace } from './connection';
import type { TerminalView } from './widget';

const ARGS = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Id of the job' },
    replica: { type: 'string' },
    rank: { type: 'number' }
  }
};

type Tab = DeferredWidget<TerminalView>;

/** Adds the command that opens a terminal in a replica or rank of a job. */
export const terminalPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:terminal',
  description: 'Opens terminals in the replicas of distributed jobs.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [
    ICommandPalette,
    ILayoutRestorer,
    ISettingRegistry,
    IThemeManager,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    themes: IThemeManager | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tracker = new WidgetTracker<Tab>({ namespace: 't9kjob-terminal' });
    const places = new WeakMap<Tab, IShellPlace>();

    const create = (place: IShellPlace, key: string, begin: boolean): Tab => {
      const tab: Tab = new DeferredWidget<TerminalView>({
        load: async () => {
          const { TerminalView } = await import('./widget');
          const { serverSettings } = jobs.api;
          const lab = { serverSettings, settings, themes, translator, trans };
          return new TerminalView(place, lab, begin);
        },
        trans
      });
      tab.id = key;
      tab.node.tabIndex = -1;
      tab.title.icon = terminalIcon;
      tab.title.label = place.replica;
      tab.title.closable = true;
      places.set(tab, place);
      void tab.load();
      void tracker.add(tab);
      return tab;
    };

    const idOf = (args: { id?: unknown }): string =>
      String(args.id ?? app.shell.currentWidget?.node.dataset.jobId ?? '');

    app.commands.addCommand(CommandIDs.openTerminal, {
      label: ({ id }) =>
        id === undefined
          ? trans.__('Open Terminal in Job')
          : trans.__('Open Terminal'),
      caption: trans.__('Open a shell in a replica of the job'),
      icon: ({ id }) => (id === undefined ? undefined : terminalIcon),
      describedBy: { args: ARGS },
      isEnabled: args => jobs.get(idOf(args))?.phase === 'Running',
      execute: async args => {
        const id = idOf(args);
        let { replica, rank } = args;
        try {
          if (typeof replica !== 'string') {
            const { available, places } = await jobs.api.terminals(id);
            if (!available.supported || !places.length) {
              throw new Error(available.reason ?? trans.__('No replica runs.'));
            }
            [{ replica, rank }] = places;
          }
        } catch (error) {
          notifyError(error, trans);
          return;
        }
        const place = { id, replica, rank: rank == null ? null : Number(rank) };
        const key = `t9kjob-terminal-${id}-${replica}-${place.rank ?? ''}`;
        const known = tracker.find(tab => tab.id === key);
        const tab = known ?? create(place, key, !args.restored);
        showTab(app.shell, tab, 'Terminal');
        if (known) {
          await (await known.loaded)?.start();
        }
      }
    });
    const category = trans.__('Distributed Jobs');
    palette?.addItem({ command: CommandIDs.openTerminal, category });
    void restorer?.restore(tracker, {
      command: CommandIDs.openTerminal,
      args: tab => ({ ...places.get(tab), restored: true }),
      name: tab => tab.id
    });
  }
};
