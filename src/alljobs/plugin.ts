/** Plugin of the tabs about all jobs. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { loadTranslation } from '../common/translation';
import { PageTabs } from '../shell/pageTabs';
import { CommandIDs, IJobsModel } from '../tokens';
import { jobIcon } from '../ui/icons';

const ARGS = {
  type: 'object',
  properties: { page: { type: 'string' }, ids: { type: 'array' } }
};

/** Adds the command that opens the table of all jobs and its pages, and restores their tabs. */
export const allJobsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:all-jobs',
  description: 'Shows all distributed jobs in a table.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [
    ILayoutRestorer,
    IStateDB,
    ICommandPalette,
    ILauncher,
    IFileBrowserFactory,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browsers: IFileBrowserFactory | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tabs = new PageTabs({
      shell: app.shell,
      namespace: 't9kjob-all-jobs',
      label: trans.__('All jobs'),
      type: 'Distributed Jobs',
      load: async address => {
        const { createPage } = await import('./pages');
        return createPage(address, { app, jobs, stateDB, trans });
      },
      trans
    });

    const command = CommandIDs.openAllJobs;
    app.commands.addCommand(command, {
      label: ({ page }) =>
        page === 'compare' ? trans.__('Compare With…') : trans.__('All Jobs'),
      caption: trans.__('Show all distributed jobs in a table'),
      icon: ({ page }) => (page === 'compare' ? undefined : jobIcon),
      describedBy: { args: ARGS },
      execute: async args => {
        const known = Array.isArray(args.ids) ? args.ids.map(String) : [];
        const page = String(args.page ?? 'table');
        let ids = known;
        if (page === 'compare' && known.length === 1) {
          const { askJobs } = await import('./compare/ask');
          const more = await askJobs(jobs, known, trans);
          if (!more?.length) {
            return;
          }
          ids = [...known, ...more];
        }
        tabs.open({ page, ids });
      }
    });
    const selected = (): string | null => {
      const items = browsers?.tracker.currentWidget?.selectedItems();
      const path = items?.next().value?.path ?? '';
      return /\.zip$/i.test(path) ? path : null;
    };
    app.commands.addCommand(CommandIDs.importJob, {
      label: trans.__('Open as Job Archive'),
      caption: trans.__('Show the job that a lab exported as this file'),
      icon: jobIcon,
      describedBy: {
        args: { type: 'object', properties: { path: { type: 'string' } } }
      },
      isVisible: args => typeof args.path === 'string' || selected() !== null,
      execute: async args => {
        const path = typeof args.path === 'string' ? args.path : selected();
        if (path !== null) {
          const { importJob } = await import('./importJob');
          await importJob(app.commands, jobs, path, trans);
        }
      }
    });
    const category = trans.__('Distributed Jobs');
    palette?.addItem({ command, category });
    launcher?.add({ command, category, rank: 3 });
    tabs.restore(restorer, command);
  }
};
