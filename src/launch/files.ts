import { JupyterFrontEnd } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { FileDialog, IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { notifyError } from '../shell/notices';
import { askToSave } from './saveFirst';
import { localPath, otherDrive } from '../shell/localFiles';
import { isOfKind, isYaml, ManifestFiles } from './manifestFiles';

/** Where our settings are. */
export const SETTINGS = 'jupyterlab_t9kjob:plugin';
const ALWAYS_SAVE = 'alwaysSaveBeforeJob';

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

/** Whether a file can be run as a job, by its name. */
export function isRunnable(path: string): boolean {
  return /\.(py|ipynb)$/.test(path);
}

/** The lab's files as jobs need them: without drives, saved, and found where they are open. */
export class LaunchFiles {
  constructor(private readonly _options: ILaunchFilesOptions) {}

  /** A path as the server knows it; null for one of another drive. */
  localPath(path: string): string | null {
    return localPath(this._options.app.serviceManager.contents, path);
  }

  /** A path as the server knows it; for one of another drive the user is told why it can't be used. */
  local(path: string): string | null {
    const { app, trans } = this._options;
    const local = this.localPath(path);
    if (local === null) {
      const { contents } = app.serviceManager;
      notifyError(otherDrive(contents, path, trans), trans);
    }
    return local;
  }

  /** The scripts, notebooks and manifests that are selected in the file browser, with their drives. */
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

  /** The script, notebook or manifest in front, with its drive; none or one. */
  get inFront(): string[] {
    const { path, model } = this._contextInFront ?? {};
    return path &&
      (isRunnable(path) ||
        (isYaml(path) &&
          isOfKind(model?.toString() ?? '', this._options.manifests.kinds)))
      ? [path]
      : [];
  }

  /** The text of a file, as it is on disk. */
  async read(path: string): Promise<string> {
    const { contents } = this._options.app.serviceManager;
    const file = await contents.get(path, {
      type: 'file',
      format: 'text',
      content: true
    });
    return String(file.content);
  }

  /** Whether a file of any kind is in front. */
  get isDocumentInFront(): boolean {
    return this._contextInFront !== undefined;
  }

  /** Let unsaved changes be saved; false if the user does not want to go on. */
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
    const choice = always
      ? { save: true, always: false }
      : await askToSave(context, this._options.trans);
    if (choice?.always) {
      await settings?.set(ALWAYS_SAVE, true);
    }
    if (choice?.save) {
      await context.save(); // tells of its own failure
      return !context.model.dirty;
    }
    return choice !== null;
  }

  /** Show a file where it is open, else open it; at a line (from 1) if one is given. */
  async open(path: string, line: number | null): Promise<void> {
    const { app, manager, editors } = this._options;
    const open = this._contexts().find(
      ({ context }) => this.localPath(context.path) === path
    );
    if (open) {
      app.shell.activateById(open.widget.id);
    } else {
      manager.openOrReveal(path);
    }
    if (line === null) {
      return;
    }
    const context = this._contexts().find(
      ({ context }) => this.localPath(context.path) === path
    )?.context;
    await context?.ready;
    const widget = editors?.find(
      ({ context }) => this.localPath(context.path) === path
    );
    await widget?.revealed;
    const position = { line: line - 1, column: 0 };
    widget?.content.editor.setCursorPosition(position);
    widget?.content.editor.revealPosition(position);
    widget?.content.editor.focus();
  }

  /** Ask for a script or notebook; null if none was chosen. */
  async chooseScript(beside: string): Promise<string | null> {
    const { trans } = this._options;
    const { button, value } = await FileDialog.getOpenFiles({
      ...this._dialog(beside),
      title: trans.__('Choose a script or notebook'),
      filter: ({ type, name }) =>
        type === 'directory' || isRunnable(name) ? {} : null
    });
    const file = value?.find(({ type }) => type !== 'directory');
    return button.accept && file ? this.local(file.path) : null;
  }

  /** Ask for a folder; null if none was chosen. */
  async chooseFolder(beside: string): Promise<string | null> {
    const { trans } = this._options;
    const { button, value } = await FileDialog.getExistingDirectory({
      ...this._dialog(beside),
      title: trans.__('Choose a working directory')
    });
    return button.accept && value?.length ? this.local(value[0].path) : null;
  }

  private _dialog(
    beside: string
  ): Pick<FileDialog.IFileOptions, 'manager' | 'defaultPath' | 'translator'> {
    const { manager, translator } = this._options;
    return {
      manager,
      defaultPath: beside.split('/').slice(0, -1).join('/'),
      translator: translator ?? undefined
    };
  }

  private get _contextInFront(): DocumentRegistry.Context | undefined {
    const { app, manager } = this._options;
    const widget = app.shell.currentWidget;
    return widget ? manager.contextForWidget(widget) : undefined;
  }

  private _contexts(): { widget: Widget; context: DocumentRegistry.Context }[] {
    const { app, manager } = this._options;
    return [...app.shell.widgets('main')].flatMap(widget => {
      const context = manager.contextForWidget(widget);
      return context ? [{ widget, context }] : [];
    });
  }
}
