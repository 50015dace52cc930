/** Access to the lab's files for launching jobs: selection, saving and opening. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import type { FileDialog, IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { notifyError } from '../shell/notices';
import type { ISaveChoice } from './saveFirst';
import { localPath, otherDrive } from '../shell/localFiles';
import { isOfKind, isYaml, ManifestFiles } from './manifestFiles';

/** Id of the extension's settings. */
export const SETTINGS = 'jupyterlab_t9kjob:plugin';
const ALWAYS_SAVE = 'alwaysSaveBeforeJob';

/** Services of the lab for access to files. */
interface ILaunchFilesOptions {
  app: JupyterFrontEnd;
  manager: IDocumentManager;
  browsers: IFileBrowserFactory | null;
  editors: IEditorTracker | null;
  manifests: ManifestFiles;
  settings: ISettingRegistry | null;
  translator: ITranslator | null;
  trans: TranslationBundle;
}

/** Return true if a file can run as a job, by its extension. */
export function isRunnable(path: string): boolean {
  return /\.(py|ipynb)$/.test(path);
}

/** The lab's files. Paths of the server have no drive, because jobs can't read other drives. */
export class LaunchFiles {
  constructor(private readonly _options: ILaunchFilesOptions) {}

  /** Return the path without its drive; null for a file on another drive. */
  localPath(path: string): string | null {
    return localPath(this._options.app.serviceManager.contents, path);
  }

  /** Return the path without its drive. For a file on another drive, show an error and return null. */
  local(path: string): string | null {
    const { app, trans } = this._options;
    const local = this.localPath(path);
    if (local === null) {
      const { contents } = app.serviceManager;
      notifyError(otherDrive(contents, path, trans), trans);
    }
    return local;
  }

  /** Paths, with drives, of the selected scripts, notebooks and manifests in the file browser. */
  get selected(): string[] {
    const { browsers, manifests } = this._options;
    const browser = browsers?.tracker.currentWidget;
    return [...(browser?.selectedItems() ?? [])]
      .filter(
        item =>
          (item.type !== 'directory' && isRunnable(item.path)) ||
          manifests.has(item)
      )
      .map(({ path }) => path);
  }

  /** Path, with its drive, of the script, notebook or manifest in the current tab; empty if there is none. */
  get inFront(): string[] {
    const { path, model } = this._contextInFront ?? {};
    return path &&
      (isRunnable(path) ||
        (isYaml(path) &&
          isOfKind(model?.toString() ?? '', this._options.manifests.kinds)))
      ? [path]
      : [];
  }

  /** Read the text of a file from disk. */
  async read(path: string): Promise<string> {
    const { contents } = this._options.app.serviceManager;
    const file = await contents.get(path, {
      type: 'file',
      format: 'text',
      content: true
    });
    return String(file.content);
  }

  /** True if the current tab shows a file of any kind. */
  get isDocumentInFront(): boolean {
    return this._contextInFront !== undefined;
  }

  /** Let the user save unsaved changes of a file. Return false if the user cancels or saving fails. */
  async saved(path: string): Promise<boolean> {
    const context = this._contexts().find(
      ({ context }) =>
        context.model.dirty && this.localPath(context.path) === path
    )?.context;
    if (!context) {
      return true;
    }
    const settings = await this._options.settings?.load(SETTINGS);
    const always = settings?.get(ALWAYS_SAVE).composite === true;
    const ask = async (): Promise<ISaveChoice | null> =>
      (await import('./saveFirst')).askToSave(context, this._options.trans);
    const choice = always ? { save: true, always: false } : await ask();
    if (choice?.always) {
      await settings?.set(ALWAYS_SAVE, true);
    }
    if (choice?.save) {
      await context.save(); // JupyterLab reports a failure
      return !context.model.dirty;
    }
    return choice !== null;
  }

  /**
   * Show a file in its open tab, or open it.
   *
   * @param line - Line to show, from 1; null for none. In a notebook, the line of the cell.
   * @param cell - Cell of a notebook to show, from 1; null for none.
   */
  async open(
    path: string,
    line: number | null,
    cell: number | null = null
  ): Promise<void> {
    const { app, manager, editors } = this._options;
    const open = this._contexts().find(
      ({ context }) => this.localPath(context.path) === path
    );
    if (open) {
      app.shell.activateById(open.widget.id);
    } else {
      manager.openOrReveal(path);
    }
    if (line === null && cell === null) {
      return;
    }
    const shown = this._contexts().find(
      ({ context }) => this.localPath(context.path) === path
    );
    await shown?.context.ready;
    if (shown && cell !== null) {
      const { showCell } = await import('../shell/showCell');
      return showCell(shown.widget, cell, line ?? 1);
    }
    if (line === null) {
      return;
    }
    const widget = editors?.find(
      ({ context }) => this.localPath(context.path) === path
    );
    await widget?.revealed;
    const position = { line: line - 1, column: 0 };
    widget?.content.editor.setCursorPosition(position);
    widget?.content.editor.revealPosition(position);
    widget?.content.editor.focus();
  }

  /**
   * Return the options that all file dialogs share.
   *
   * @param beside - Path of a file in whose folder the dialog starts.
   */
  dialog(
    beside: string
  ): Pick<FileDialog.IFileOptions, 'manager' | 'defaultPath' | 'translator'> {
    const { manager, translator } = this._options;
    return {
      manager,
      defaultPath: beside.split('/').slice(0, -1).join('/'),
      translator: translator ?? undefined
    };
  }

  /** The document of the current tab; undefined if the tab shows none. */
  private get _contextInFront(): DocumentRegistry.Context | undefined {
    const { app, manager } = this._options;
    const widget = app.shell.currentWidget;
    return widget ? manager.contextForWidget(widget) : undefined;
  }

  /** Return the documents that are open in the main area, with their tabs. */
  private _contexts(): { widget: Widget; context: DocumentRegistry.Context }[] {
    const { app, manager } = this._options;
    return [...app.shell.widgets('main')].flatMap(widget => {
      const context = manager.contextForWidget(widget);
      return context ? [{ widget, context }] : [];
    });
  }
}
