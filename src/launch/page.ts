/** Content of a launch tab, connected with the lab; loaded when the first tab opens. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ILaunchActions } from './parts/context';
import { LaunchModel } from './model/launch';
import type { IClone, IManifest } from './model/state';
import type { LaunchStore } from './model/store';
import { shortcutLabels } from '../common/shortcut';
import { notifySweep } from '../shell/sweepNotices';
import { CommandIDs, IJobsModel } from '../tokens';
import { LaunchWidget } from './widget';
import { askForManifest, confirmDiscard, confirmLoss } from '../job/manifests';
import { FileDialogs } from './fileDialogs';
import type { LaunchFiles } from './files';
import { ScriptChanges } from './scriptChanges';

/** Services of the lab and of this extension for launch tabs. */
export interface ILaunchParts {
  app: JupyterFrontEnd;
  jobs: IJobsModel;
  files: LaunchFiles;
  store: LaunchStore;
  /** Returns the images that the settings offer. */
  presetImages: () => readonly string[];
  editors: IEditorServices;
  trans: TranslationBundle;
}

/** Start values of a tab in addition to a file. */
export interface IBeginning {
  /** The job whose spec fills the form. */
  clone?: IClone;
  /** The manifest that fills the form. */
  manifest?: IManifest;
  /** Id of a tab in the store whose edits are restored. */
  tab?: string;
}

/** Options of the content of a launch tab. */
interface ILaunchPageOptions extends ILaunchParts, IBeginning {
  /** Path of the form's file in the contents API; null if the job has no file. */
  path: string | null;
  /** Id of the tab in the store. */
  tab: string;
  /** Let the user paste a manifest, and open another tab with it. */
  paste(): void;
  close(): void;
}

/** Create the content of a launch tab. */
export function createLaunch(options: ILaunchPageOptions): LaunchWidget {
  return new LaunchPage(options).widget;
}

/** Connects the form's model and widget with the lab. */
class LaunchPage {
  constructor(private readonly _options: ILaunchPageOptions) {
    const { app, jobs, store, trans, files, presetImages, editors } = _options;
    const { path, clone, manifest, tab } = _options;
    const model = new LaunchModel({
      ...{ api: jobs.api, store, trans, tab, path, clone, manifest, jobs },
      presetImages
    });
    this._model = model;
    const dialogs = new FileDialogs(files, app.serviceManager.contents, trans);
    const actions: ILaunchActions = {
      openFile: (file, line, cell) =>
        void files.open(file, line ?? null, cell ?? null),
      chooseFile: () => dialogs.chooseScript(model.state.path ?? ''),
      chooseText: () => dialogs.chooseText(model.state.path ?? ''),
      chooseRows: () => dialogs.chooseRows(model.state.path ?? ''),
      chooseFolder: () => dialogs.chooseFolder(model.state.path ?? ''),
      pasteManifest: () => _options.paste(),
      correctManifest: () => void this._correct(),
      backToForm: () => void this._backToForm(),
      submit: () => void this._submit(),
      dryRun: () => void model.dryRun(() => this._isSaved()),
      saveFirst: () => this._isSaved(),
      withShortcut: shortcutLabels(app.commands, trans)
    };
    const script = new ScriptChanges(model, app.serviceManager.contents);
    this.widget = new LaunchWidget({
      ...{ model, store, tab, actions, editors, trans },
      onReturn: () => void script.look()
    });
  }

  readonly widget: LaunchWidget;

  /** Let the user correct the pasted manifest, and open it again. */
  private async _correct(): Promise<void> {
    const { _model: model } = this;
    const text = await askForManifest(this._options.trans, model.pasted ?? '');
    if (text !== null) {
      await model.correct(text);
    }
  }

  /** Return to the form with the edited manifest. The user confirms a loss first. */
  private async _backToForm(): Promise<void> {
    const { trans } = this._options;
    const { _model: model } = this;
    if (!model.isManifestChanged) {
      return model.backToForm();
    }
    const read = await model.readManifest();
    if (read) {
      if (!read.lost.length || (await confirmLoss(read.lost, trans))) {
        await model.backToForm(read);
      }
      return;
    }
    const { refusal } = model.state;
    if (refusal && (await confirmDiscard(refusal, trans))) {
      await model.backToForm();
    }
  }

  /** Create the job, or the jobs of the sweep, show them, and close the form. */
  private async _submit(): Promise<void> {
    if (this._model.isSweep) {
      return this._submitSweep();
    }
    const job = await this._model.submit(() => this._isSaved());
    if (job) {
      const { app, close } = this._options;
      try {
        const { id } = job;
        await app.commands.execute(CommandIDs.openJob, { id });
      } finally {
        close();
      }
    }
  }

  /** Create the jobs of the sweep, show them in the sidebar, and close the form. */
  private async _submitSweep(): Promise<void> {
    const result = await this._model.submitSweep(() => this._isSaved());
    if (result) {
      const { app, close, trans } = this._options;
      notifySweep(result, trans);
      try {
        await app.commands.execute(CommandIDs.showJobs);
      } finally {
        close();
      }
    }
  }

  /** Return true if the file is saved, or if the user wants to run the saved version. */
  private async _isSaved(): Promise<boolean> {
    const { path } = this._model.state;
    return path === null || (await this._options.files.saved(path));
  }

  private readonly _model: LaunchModel;
}
