/** Dialogs in which the user chooses files for the form. They are loaded with the form. */
import { FileDialog } from '@jupyterlab/filebrowser';
import type { Contents } from '@jupyterlab/services';
import { TranslationBundle } from '@jupyterlab/translation';
import { notifyError } from '../shell/notices';
import { isRunnable, LaunchFiles } from './files';

export class FileDialogs {
  constructor(
    private readonly _files: LaunchFiles,
    private readonly _contents: Contents.IManager,
    private readonly _trans: TranslationBundle
  ) {}

  /**
   * Let the user choose a script or notebook; null if none was chosen.
   *
   * @param beside - Path of a file in whose folder the dialog starts.
   */
  async chooseScript(beside: string): Promise<string | null> {
    const title = this._trans.__('Choose a script or notebook');
    const path = await this._chooseFile(beside, title, isRunnable);
    return path === null ? null : this._files.local(path);
  }

  /**
   * Let the user choose a file of rows for a sweep; null if none was chosen.
   *
   * @param beside - Path of a file in whose folder the dialog starts.
   */
  async chooseRows(beside: string): Promise<string | null> {
    const title = this._trans.__('Choose a file with the values of the jobs');
    const path = await this._chooseFile(beside, title, name =>
      /\.(csv|tsv|txt|jsonl?|ndjson)$/i.test(name)
    );
    return path === null ? null : this._files.local(path);
  }

  /**
   * Let the user choose a text file, and read it; null if none was chosen. If it is no text, show an error and return
   * null.
   *
   * @param beside - Path of a file in whose folder the dialog starts.
   */
  async chooseText(
    beside: string
  ): Promise<{ path: string; text: string } | null> {
    const title = this._trans.__('Choose a config file');
    const path = await this._chooseFile(beside, title);
    if (path === null) {
      return null;
    }
    try {
      const { content } = await this._contents.get(path, {
        type: 'file',
        format: 'text'
      });
      return { path, text: String(content) };
    } catch (error) {
      notifyError(error, this._trans);
      return null;
    }
  }

  /**
   * Let the user choose a folder; null if none was chosen.
   *
   * @param beside - Path of a file in whose folder the dialog starts.
   */
  async chooseFolder(beside: string): Promise<string | null> {
    const { button, value } = await FileDialog.getExistingDirectory({
      ...this._files.dialog(beside),
      title: this._trans.__('Choose a working directory')
    });
    return button.accept && value?.length
      ? this._files.local(value[0].path)
      : null;
  }

  /** Let the user choose a file whose name is accepted; its path with its drive, or null if none was chosen. */
  private async _chooseFile(
    beside: string,
    title: string,
    accepts: (name: string) => boolean = () => true
  ): Promise<string | null> {
    const { button, value } = await FileDialog.getOpenFiles({
      ...this._files.dialog(beside),
      title,
      filter: ({ type, name }) =>
        type === 'directory' || accepts(name) ? {} : null
    });
    const file = value?.find(({ type }) => type !== 'directory');
    return button.accept && file ? file.path : null;
  }
}
