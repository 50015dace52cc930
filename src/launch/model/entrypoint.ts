/** Edits of the launch form's entrypoint, after which the script is read and the working directory follows. */
import { contentsPath } from '../../common/contentsPath';
import { asKind, EntrypointKind, folderOf } from '../content/entrypoints';
import { withArgs } from '../content/form';
import { LaunchFilling } from './filling';

/** Base class of the launch form's model: sets the entrypoint. */
export abstract class LaunchEntrypoint extends LaunchFilling {
  /**
   * Set the entrypoint. The options of a file are read from the file.
   *
   * @param text - Path of the file, name of the module, or command.
   */
  async setEntrypoint(kind: EntrypointKind, text: string): Promise<void> {
    const field = '/entrypoint/value';
    if (this.isFrozen || this._isFixed(field)) {
      return;
    }
    const value = text.trim();
    const { args } = this.spec;
    this._followFile(kind, value);
    this.edit({ entrypoint: { kind, value: value || '-' } }, field);
    if (!value) {
      const problem = this._options.trans.__(
        'Enter a script, module or command.'
      );
      this.setDraft(field, { text, problem });
    }
    this._edit(withArgs(this.form, args, this.scriptOptions));
    const isFile = kind === 'script' || kind === 'notebook';
    const root = this.state.prefill?.root ?? null;
    const path = isFile ? contentsPath(value, root) : null;
    if (path && path !== this.state.path) {
      this._set({ path });
      await this.readScript();
    }
  }

  override resetField(field: string): void {
    if (field === '/entrypoint/value' && this.original) {
      const { entrypoint, working_dir } = this.original;
      void this.setEntrypoint(entrypoint.kind, entrypoint.value);
      this.setWorkingDir(working_dir);
    } else {
      super.resetField(field);
    }
  }

  /** Change the working directory to the file's folder, unless the user has chosen another directory. */
  private _followFile(kind: EntrypointKind, value: string): void {
    const { entrypoint, working_dir } = this.form.spec;
    const own = [
      folderOf(entrypoint.kind, entrypoint.value),
      this.state.prefill?.spec.working_dir ?? null,
      this._followed
    ];
    const folder = folderOf(kind, value);
    // An empty one is the directory of the image.
    if (folder !== null && working_dir && own.includes(working_dir)) {
      this._followed = folder;
      this.setWorkingDir(folder);
    }
  }

  /** Change the kind of the entrypoint. The new value is derived from the file; without a file the user enters it. */
  async setKind(kind: EntrypointKind): Promise<void> {
    const { prefill, path } = this.state;
    if (this.isFrozen || this._isFixed('/entrypoint/kind')) {
      return;
    }
    if (prefill && path === null) {
      const { kind: own, value } = prefill.spec.entrypoint;
      await this.setEntrypoint(kind, kind === own ? value : '');
    } else if (prefill?.root && path !== null) {
      const { value, working_dir } = asKind(kind, path, prefill.root);
      this.setWorkingDir(working_dir);
      await this.setEntrypoint(kind, value);
    }
  }

  /** The working directory that was set last because the file changed. */
  private _followed: string | null = null;
}
