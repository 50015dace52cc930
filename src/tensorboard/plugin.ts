/** Plugin that opens TensorBoards in tabs and provides their commands. */

import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  createToolbarFactory,
  IThemeManager,
  IToolbarWidgetRegistry,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import {
  ITranslator,
  nullTranslator,
  TranslationBundle
} from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { tensorBoardIcon } from '../ui/icons';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { notifyError } from '../shell/notices';
import { showTab } from '../shell/showTab';
import type { TensorBoardPages } from './pages';
import type { TensorBoardWidget } from './widget';
import { ITensorBoardSource, keyOf } from './model/source';
import { TensorBoardTab, TOOLBAR } from './tab';
import { localPath, otherDrive } from '../shell/localFiles';

/** Opens TensorBoards in tabs. */
export const tensorBoardPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:tensorboard',
  description: 'Opens TensorBoard in a tab.',
  autoStart: true,
  requires: [IJobsModel, IToolbarWidgetRegistry, ISettingRegistry],
  optional: [IFileBrowserFactory, ILayoutRestorer, IThemeManager, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    toolbars: IToolbarWidgetRegistry,
    settings: ISettingRegistry,
    browsers: IFileBrowserFactory | null,
    restorer: ILayoutRestorer | null,
    themes: IThemeManager | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const { contents } = app.serviceManager;
    const tracker = new WidgetTracker<TensorBoardTab>({
      namespace: 't9kjob-tensorboard'
    });

    const createToolbar = createToolbarFactory(
      toolbars,
      settings,
      TOOLBAR,
      tensorBoardPlugin.id,
      translator ?? nullTranslator
    );

    let pages: TensorBoardPages | null = null;
    const create = (source: ITensorBoardSource): TensorBoardTab => {
      const { commands } = app;
      const load = async (): Promise<TensorBoardWidget> => {
        const { TensorBoardPages } = await import('./pages');
        pages ??= new TensorBoardPages({
          ...{ jobs, commands, toolbars, createToolbar, themes, trans }
        });
        return pages.create(source);
      };
      const widget = new TensorBoardTab({ source, load, trans });
      void widget.load();
      void tracker.add(widget);
      return widget;
    };

    /** Show the tab of a source; open a new tab if none exists. */
    const show = (source: ITensorBoardSource): void => {
      const key = keyOf(source);
      const widget = tracker.find(known => known.key === key) ?? create(source);
      showTab(app.shell, widget, 'TensorBoard');
    };

    /** Return the folder that is selected in the file browser, with its drive. */
    const clickedFolder = (): string | undefined => {
      const browser = browsers?.tracker.currentWidget;
      const items = [...(browser?.selectedItems() ?? [])];
      return items.find(({ type }) => type === 'directory')?.path;
    };

    app.commands.addCommand(CommandIDs.openTensorBoard, {
      label: trans.__('Open in TensorBoard'),
      caption: trans.__('Open event files in TensorBoard'),
      icon: tensorBoardIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            id: { type: 'string', description: 'Id of a running TensorBoard' },
            jobId: {
              type: 'string',
              description: 'Job whose log directories to open'
            },
            path: { type: 'string', description: 'Folder of event files' },
            paths: {
              type: 'array',
              items: { type: 'string' },
              description: 'Folders of event files'
            }
          }
        }
      },
      isVisible: args =>
        args.jobId === undefined || logsOf(jobs, args.jobId) > 0,
      execute: args => {
        const source = sourceOf(jobs, args);
        if (source) {
          return show(source);
        }
        const folder =
          typeof args.path === 'string' ? args.path : clickedFolder();
        if (folder === undefined) {
          return app.commands.execute(CommandIDs.chooseLogDirectory);
        }
        const path = localPath(contents, folder);
        return path === null
          ? notifyError(otherDrive(contents, folder, trans), trans)
          : show({ paths: [path] });
      }
    });
    addProcessCommands(app, jobs, tracker, trans);

    void restorer?.restore(tracker, {
      command: CommandIDs.openTensorBoard,
      args: ({ source }) => ({ ...source }),
      name: ({ key }) => key
    });
  }
};

/** Add the commands that restart and stop a TensorBoard, by id or for the current tab. */
function addProcessCommands(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  tracker: WidgetTracker<TensorBoardTab>,
  trans: TranslationBundle
): void {
  const add = (
    command: string,
    label: string,
    execute: (id: string) => Promise<void>
  ): void => {
    const idOf = (args: ReadonlyPartialJSONObject): unknown =>
      args.id ?? tracker.currentWidget?.boardId;
    app.commands.addCommand(command, {
      label,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            id: { type: 'string', description: 'Id of the TensorBoard' }
          }
        }
      },
      isEnabled: args => idOf(args) !== undefined,
      execute: async args => {
        try {
          await execute(String(idOf(args)));
        } catch (error) {
          notifyError(error, trans);
        }
      }
    });
  };
  add(
    CommandIDs.restartTensorBoard,
    trans.__('Restart TensorBoard'),
    async id => {
      const tab = tracker.find(({ boardId }) => boardId === id);
      await (tab?.content?.model.restart() ?? jobs.api.restartTensorBoard(id));
    }
  );
  add(CommandIDs.stopTensorBoard, trans.__('Stop TensorBoard'), id =>
    jobs.api.stopTensorBoard(id)
  );
}

/** Return the number of a job's log directories. */
function logsOf(jobs: IJobsModel, id: unknown): number {
  return jobs.get(String(id))?.log_dirs.length ?? 0;
}

/** Return the job, the folders or the running TensorBoard that the arguments name; null if they name none. */
function sourceOf(
  jobs: IJobsModel,
  args: ReadonlyPartialJSONObject
): ITensorBoardSource | null {
  const { id, jobId, paths } = args;
  if (typeof jobId === 'string') {
    return { jobId };
  }
  if (Array.isArray(paths)) {
    return { paths: paths.map(String) };
  }
  const board = jobs.tensorboards.find(known => known.id === id);
  if (!board) {
    return null;
  }
  return board.job_id !== null
    ? { jobId: board.job_id }
    : { paths: board.paths.map((known, i) => known ?? board.log_dirs[i]) };
}
