import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ILaunchActions } from './parts/context';
import { LaunchModel } from './model/launch';
import type { IClone, IManifest } from './model/state';
import type { LaunchStore } from './model/store';
import { shortcutLabels } from '../common/shortcut';
import { CommandIDs, IJobsModel } from '../tokens';
import { LaunchWidget } from './widget';
import { askForManifest, confirmDiscard, confirmLoss } from '../job/manifests';
import type { LaunchFiles } from './files';

/** What of the lab and of this extension launch tabs work with. */
export interface ILaunchParts {
  app: JupyterFrontEnd;
  jobs: IJobsModel;
  files: LaunchFiles;
  store: LaunchStore;
  /** Images that the settings offer. */
  presetImages: () => readonly string[];
  editors: IEditorServices;
  trans: TranslationBundle;
}

/** What a tab begins with, beside a file. */
export interface IBeginning {
  clone?: IClone;
  manifest?: IManifest;
  /** A tab whose edits are taken up again. */
  tab?: string;
}

interface ILaunchPageOptions extends ILaunchParts, IBeginning {
  /** The file that the form is for; null if the job runs none. */
  path: string | null;
  /** Names the tab in the store. */
  tab: string;
  /** Ask for a manifest, and open another tab with it. */
  paste(): void;
  /** Close the tab. */
  close(): void;
}

/** Create the content of a launch tab. */
export function createLaunch(options: ILaunchPageOptions): LaunchWidget {
  return new LaunchPage(options).widget;
}

/** A form, and what its buttons do in the lab. */
class LaunchPage {
  constructor(private readonly _options: ILaunchPageOptions) {
    const { app, jobs, store, trans, files, presetImages, editors } = _options;
    const { path, clone, manifest, tab } = _options;
    const model = new LaunchModel({
      ...{ api: jobs.api, store, trans, tab, path, clone, manifest, jobs },
      presetImages
    });
    this._model = model;
    const actions: ILaunchActions = {
      openFile: (file, line) => void files.open(file, line ?? null),
      chooseFile: () => files.chooseScript(model.state.path ?? ''),
      chooseFolder: () => files.chooseFolder(model.state.path ?? ''),
      pasteManifest: () => _options.paste(),
      correctManifest: () => void this._correct(),
      backToForm: () => void this._backToForm(),
      submit: () => void this._submit(),
      dryRun: () => void model.dryRun(() => this._isSaved()),
      withShortcut: shortcutLabels(app.commands, trans)
    };
    this.widget = new LaunchWidget({
      ...{ model, store, tab, actions, editors, trans }
    });
  }

  readonly widget: LaunchWidget;

  private async _correct(): Promise<void> {
    const { _model: model } = this;
    const text = await askForManifest(this._options.trans, model.pasted ?? '');
    if (text !== null) {
      await model.correct(text);
    }
  }

  /** Take the edited manifest over into the form, if the user agrees to what that loses. */
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

  /** Create the job, show it, and close the form: its last time is remembered. */
  private async _submit(): Promise<void> {
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

  /** Whether the disk has what the job is to run, or what the user wants it to. */
  private async _isSaved(): Promise<boolean> {
    const { path } = this._model.state;
    return path === null || (await this._options.files.saved(path));
  }

  private readonly _model: LaunchModel;
}
