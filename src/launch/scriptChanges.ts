/** Notices changes of a form's script that the lab's editor did not make. */
import type { Contents } from '@jupyterlab/services';
import { isMissing } from '../common/missing';
import { LaunchModel } from './model/launch';

/** Looks at the script of a form when the user comes back to the form. */
export class ScriptChanges {
  /** Create it, and note the present state of the script. */
  constructor(
    private readonly _model: LaunchModel,
    private readonly _contents: Pick<Contents.IManager, 'get'>
  ) {
    void this.look();
  }

  /** Read the script again if it was changed, moved away or put back since the last call. */
  async look(): Promise<void> {
    const { path } = this._model.state;
    const changedAt = path === null ? undefined : await this._changedAt(path);
    if (changedAt === undefined || this._model.isDisposed) {
      return;
    }
    const isChanged = path === this._path && changedAt !== this._changed;
    this._path = path;
    this._changed = changedAt;
    if (isChanged && changedAt === null && this._model.state.form) {
      await this._model.preview.refresh(); // the server says that it is missing
    } else if (isChanged) {
      await this._model.readScript();
    }
  }

  /** Return the time of a file's last change; null if the file does not exist, undefined if that is not known. */
  private async _changedAt(path: string): Promise<string | null | undefined> {
    try {
      const { last_modified: changedAt } = await this._contents.get(path, {
        content: false
      });
      return changedAt;
    } catch (error) {
      return isMissing(error) ? null : undefined;
    }
  }

  private _path: string | null = null;
  private _changed: string | null = null;
}
