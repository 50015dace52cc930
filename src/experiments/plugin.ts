/** Plugin that shows recorded runs, their comparisons and artifacts in tabs. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { loadTranslation } from '../common/translation';
import { localPath } from '../shell/localFiles';
import { PageTabs } from '../shell/pageTabs';
import { CommandIDs, IJobsModel } from '../tokens';
import { jobIcon } from '../ui/icons';

/** Arguments of the command, see `CommandIDs.openExperiments`; `clicked` takes the folder of the file browser. */
const ARGS = {
  type: 'object',
  properties: {
    ids: { type: 'array' },
    clicked: { type: 'boolean' },
    ...Object.fromEntries(
      ['page', 'folder', 'filter'].map(name => [name, { type: 'string' }])
    )
  }
};

/** Content of the table's tab, as the plugin uses it. */
interface IShowsRuns extends Widget {
  /** Show the runs of a folder, or those that an expression matches. */
  showRuns?(folder: unknown, filter: unknown): void;
}

/** Adds the command that opens the pages of the experiments, and restores their tabs. */
export const experimentsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:experiments',
  description: 'Shows and compares recorded runs.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [
    IDocumentManager,
    IFileBrowserFactory,
    ILayoutRestorer,
    IStateDB,
    ICommandPalette,
    ILauncher,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    documents: IDocumentManager | null,
    browsers: IFileBrowserFactory | null,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tabs = new PageTabs<IShowsRuns>({
      shell: app.shell,
      namespace: 't9kjob-experiments',
      label: trans.__('Experiments'),
      type: 'Experiments',
      load: async address => {
        const { createPage } = await import('./pages');
        const lab = { app, jobs, documents, stateDB, trans };
        return createPage(address, lab);
      },
      trans
    });

    /** Return the folder that is selected in the file browser; null if the server cannot read it. */
    const clickedFolder = (): string | null => {
      const items = browsers?.tracker.currentWidget?.selectedItems() ?? [];
      const folder = [...items].find(({ type }) => type === 'directory');
      return folder
        ? localPath(app.serviceManager.contents, folder.path)
        : null;
    };

    app.commands.addCommand(CommandIDs.openExperiments, {
      label: ({ clicked }) =>
        clicked ? trans.__('Show Experiments') : trans.__('Experiments'),
      caption: trans.__('Show and compare recorded runs'),
      icon: jobIcon,
      describedBy: { args: ARGS },
      execute: async args => {
        const ids = Array.isArray(args.ids) ? args.ids.map(String) : [];
        const tab = tabs.open({ page: String(args.page ?? 'runs'), ids });
        const folder = args.clicked ? clickedFolder() : args.folder;
        (await tab.loaded)?.showRuns?.(folder, args.filter);
      }
    });
    const command = CommandIDs.openExperiments;
    const { search } = location;
    if (search.includes('t9kjob-experiments=')) {
      void app.restored.then(async () => {
        const { pageOfAddress } = await import('./address');
        await app.commands.execute(command, { ...pageOfAddress(search) });
      });
    }
    const category = trans.__('Distributed Jobs');
    palette?.addItem({ command, category });
    launcher?.add({ command, category, rank: 4 });
    tabs.restore(restorer, command);
  }
};
