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
import { loadTranslation } from '../common/translation';
import { CommandIDs, IJobsModel } from '../tokens';
import type { TerminalView } from './widget';

/** Adds the command that opens a terminal in a replica or rank of a job. */
export const terminalPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:terminal',
  description: 'Opens terminals in jobs.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [
    ILayoutRestorer,
    ISettingRegistry,
    IThemeManager,
    ICommandPalette,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    themes: IThemeManager | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tracker = new WidgetTracker<TerminalView>({
      namespace: 't9kjob-terminal'
    });
    const idOf = (args: { id?: unknown }): string =>
      String(args.id ?? app.shell.currentWidget?.node.dataset.jobId);
    app.commands.addCommand(CommandIDs.openTerminal, {
      label: args =>
        args.id === undefined
          ? trans.__('Open a Terminal in a Replica…')
          : trans.__('Open Terminal'),
      describedBy: {
        args: { type: 'object', properties: { id: { type: 'string' } } }
      },
      isEnabled: args => jobs.get(idOf(args))?.phase === 'Running',
      execute: async args => {
        const { openTerminal } = await import('./open');
        const services = { settings, themes, translator, trans };
        await openTerminal(app, jobs, tracker, services, idOf(args), args);
      }
    });
    palette?.addItem({
      command: CommandIDs.openTerminal,
      category: trans.__('Distributed Jobs')
    });
    void restorer?.restore(tracker, {
      command: CommandIDs.openTerminal,
      args: ({ place }) => ({ ...place, restored: true }),
      name: ({ id }) => id
    });
  }
};
