/** Plugin that provides commands to choose a script or a folder of event files. */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog, IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import { jobIcon, tensorBoardIcon } from '../ui/icons';
import { CommandIDs } from '../tokens';
import { loadTranslation } from '../common/translation';

const ARGS = {
  type: 'object',
  properties: {
    cwd: { type: 'string', description: 'Folder to begin in' }
  }
} as const;

/** Provides commands that ask for a file or folder in a dialog. */
export const choosePlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:choose',
  description: 'Asks for a script to run, or for a folder of event files.',
  autoStart: true,
  requires: [IDocumentManager],
  optional: [IDefaultFileBrowser, ILauncher, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    manager: IDocumentManager,
    browser: IDefaultFileBrowser | null,
    launcher: ILauncher | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const { commands } = app;
    const category = trans.__('Distributed Jobs');

    /** Add a command. The launcher passes a folder to it and shows a shorter label. */
    const add = (
      command: string,
      labels: { palette: string; launcher: string },
      { caption, icon }: { caption: string; icon: LabIcon },
      choose: (options: FileDialog.IDirectoryOptions) => Promise<void>
    ): void => {
      commands.addCommand(command, {
        label: ({ cwd }) =>
          cwd === undefined ? labels.palette : labels.launcher,
        caption,
        icon,
        describedBy: { args: ARGS },
        execute: ({ cwd }) =>
          choose({
            manager,
            defaultPath: typeof cwd === 'string' ? cwd : browser?.model.path,
            translator: translator ?? undefined
          })
      });
      palette?.addItem({ command, category });
    };

    add(
      CommandIDs.chooseScript,
      {
        palette: trans.__('New Distributed Job…'),
        launcher: trans.__('New Job')
      },
      {
        caption: trans.__('Choose a script or notebook and run it as a job'),
        icon: jobIcon
      },
      async options => {
        const { button, value } = await FileDialog.getOpenFiles({
          ...options,
          title: trans.__('Choose a script or notebook'),
          filter: ({ type, name }) =>
            type === 'directory' || /\.(py|ipynb)$/.test(name) ? {} : null
        });
        const file = value?.find(model => model.type !== 'directory');
        if (button.accept && file) {
          await commands.execute(CommandIDs.launch, { path: file.path });
        }
      }
    );
    add(
      CommandIDs.chooseLogDirectory,
      {
        palette: trans.__('Open TensorBoard…'),
        launcher: trans.__('TensorBoard')
      },
      {
        caption: trans.__('Choose a folder of event files'),
        icon: tensorBoardIcon
      },
      async options => {
        const { button, value } = await FileDialog.getExistingDirectory({
          ...options,
          title: trans.__('Choose a folder of event files')
        });
        if (button.accept && value?.length) {
          const path = value[0].path;
          await commands.execute(CommandIDs.openTensorBoard, { path });
        }
      }
    );

    launcher?.add({
      command: CommandIDs.chooseLogDirectory,
      category,
      rank: 3
    });
  }
};
