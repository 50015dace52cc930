import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  IToolbarWidgetRegistry,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { DocumentRegistry, IDocumentWidget } from '@jupyterlab/docregistry';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { ILauncher } from '@jupyterlab/launcher';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { ToolbarButton } from '@jupyterlab/ui-components';
import { ReadonlyPartialJSONObject, UUID } from '@lumino/coreutils';
import { ILaunchActions } from '../components/launch/context';
import { jobIcon } from '../icons';
import { LaunchModel } from '../model/launch';
import { baseName } from '../model/launchForm';
import { IClone, IManifest } from '../model/launchState';
import { LaunchStore } from '../model/launchStore';
import { CommandIDs, IJobs } from '../tokens';
import { loadTranslation } from '../translation';
import { LaunchWidget } from '../widgets/launch';
import {
  askForManifest,
  confirmDiscard,
  confirmLoss
} from '../widgets/manifests';
import { addCloneCommand } from './cloneJob';
import { isRunnable, LaunchFiles, SETTINGS } from './launchFiles';
import { isYaml, ManifestFiles } from './manifestFiles';

/** The name of our button in the schema's toolbars. */
const TOOLBAR_ITEM = 'run-as-distributed-job';

/** The launch tab, and the ways to it. */
export const launchPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:launch',
  description: 'Opens the form that runs a script or notebook as a job.',
  autoStart: true,
  requires: [IJobs, IDocumentManager, IEditorServices],
  optional: [
    IFileBrowserFactory,
    IEditorTracker,
    IStateDB,
    ISettingRegistry,
    ILayoutRestorer,
    IToolbarWidgetRegistry,
    ICommandPalette,
    ILauncher,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobs,
    manager: IDocumentManager,
    editorServices: IEditorServices,
    browsers: IFileBrowserFactory | null,
    editors: IEditorTracker | null,
    stateDB: IStateDB | null,
    settings: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    toolbars: IToolbarWidgetRegistry | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const store = new LaunchStore(stateDB);
    const manifests = new ManifestFiles(app.serviceManager.contents, jobs, () =>
      app.commands.notifyCommandChanged(CommandIDs.launch)
    );
    const files = new LaunchFiles({
      app,
      manager,
      manifests,
      browsers,
      editors,
      settings,
      translator,
      trans
    });
    const tracker = new WidgetTracker<LaunchWidget>({
      namespace: 't9kjob-launch'
    });
    const presets = new PresetImages(settings);
    const tabs = new LaunchTabs({
      ...{ app, jobs, files, store, tracker, presets, trans },
      editors: editorServices
    });

    addCommands(app, jobs, files, tabs, trans);
    addToolbarButtons(app, toolbars, trans);
    browsers?.tracker.forEach(browser => manifests.follow(browser));
    browsers?.tracker.widgetAdded.connect((_, browser) =>
      manifests.follow(browser)
    );
    const category = trans.__('Distributed Jobs');
    palette?.addItem({ command: CommandIDs.launch, category });
    palette?.addItem({ command: CommandIDs.pasteManifest, category });
    launcher?.add({ command: CommandIDs.chooseScript, category, rank: 1 });
    app.serviceManager.contents.fileChanged.connect((_, { type, newValue }) => {
      const path = newValue?.path ? files.localPath(newValue.path) : null;
      if (type === 'save' && path !== null) {
        tabs.onSaved(path);
      }
    });
    void restorer?.restore(tracker, {
      command: CommandIDs.launch,
      args: ({ model, tab }) => ({ path: model.state.path, tab }),
      name: ({ tab }) => tab
    });
  }
};

/** Images that the settings offer. */
class PresetImages {
  constructor(settings: ISettingRegistry | null) {
    void settings?.load(SETTINGS).then(loaded => {
      const read = (): void => {
        const images = loaded.get('images').composite;
        this._images = Array.isArray(images) ? images.map(String) : [];
      };
      loaded.changed.connect(read);
      read();
    });
  }

  get images(): readonly string[] {
    return this._images;
  }

  private _images: string[] = [];
}

interface ILaunchTabsOptions {
  app: JupyterFrontEnd;
  jobs: IJobs;
  files: LaunchFiles;
  store: LaunchStore;
  tracker: WidgetTracker<LaunchWidget>;
  presets: PresetImages;
  editors: IEditorServices;
  trans: TranslationBundle;
}

/** What a tab begins with, beside a file. */
interface IBeginning {
  clone?: IClone;
  manifest?: IManifest;
  /** A tab whose edits are taken up again. */
  tab?: string;
}

/** The launch tabs that are open. */
class LaunchTabs {
  constructor(private readonly _options: ILaunchTabsOptions) {}

  /** Open a tab, or go to the one that is open for the same file or job. */
  open(path: string | null, { clone, manifest, tab }: IBeginning = {}): void {
    const { app, tracker } = this._options;
    let widget = tracker.find(open => {
      const { state, manifest: begun } = open.model;
      if (tab) {
        return open.tab === tab;
      }
      if (clone) {
        return state.clone?.id === clone.id && state.clone?.fix === clone.fix;
      }
      return manifest
        ? begun?.path === manifest.path && begun?.text === manifest.text
        : state.path === path && !state.clone && !begun;
    });
    if (!widget || manifest?.path === null) {
      widget = this._create(path, { clone, manifest, tab });
      app.shell.add(widget, 'main', { type: 'Distributed Job' });
      void tracker.add(widget);
      widget.model.changed.connect(this._onChange, this);
    }
    app.shell.activateById(widget.id);
  }

  /** Ask for a manifest, and open a tab with it. */
  async paste(): Promise<void> {
    const { trans } = this._options;
    const text = await askForManifest(trans);
    if (text !== null) {
      const name = trans.__('pasted manifest');
      this.open(null, { manifest: { name, path: null, text } });
    }
  }

  /** A file was saved: forms for it show its options anew. */
  onSaved(path: string): void {
    this._options.tracker.forEach(({ model }) => {
      if (model.state.path === path) {
        void model.readScript();
      }
    });
  }

  /** The restorer keeps a tab's path, which can change. */
  private _onChange(model: LaunchModel): void {
    const { tracker } = this._options;
    const widget = tracker.find(each => each.model === model);
    if (widget && this._paths.get(model) !== model.state.path) {
      this._paths.set(model, model.state.path);
      void tracker.save(widget);
    }
  }

  private _create(
    path: string | null,
    { clone, manifest, tab = UUID.uuid4() }: IBeginning
  ): LaunchWidget {
    const { jobs, store, trans, files, presets, editors } = this._options;
    const model = new LaunchModel({
      ...{ api: jobs.api, store, trans, tab, path, clone, manifest, jobs },
      presetImages: () => presets.images
    });
    const actions: ILaunchActions = {
      openFile: (file, line) => void files.open(file, line ?? null),
      chooseFile: () => files.chooseScript(model.state.path ?? ''),
      chooseFolder: () => files.chooseFolder(model.state.path ?? ''),
      pasteManifest: () => void this.paste(),
      correctManifest: () => void this._correct(model),
      backToForm: () => void this._backToForm(model),
      submit: () => void this._submit(widget),
      dryRun: () => void this._dryRun(widget)
    };
    const widget = new LaunchWidget({
      ...{ model, store, tab, actions, editors, trans }
    });
    return widget;
  }

  private async _correct(model: LaunchModel): Promise<void> {
    const text = await askForManifest(this._options.trans, model.pasted ?? '');
    if (text !== null) {
      await model.correct(text);
    }
  }

  /** Take the edited manifest over into the form, if the user agrees to what that loses. */
  private async _backToForm(model: LaunchModel): Promise<void> {
    const { trans } = this._options;
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
  private async _submit(widget: LaunchWidget): Promise<void> {
    const { model } = widget;
    const job = await model.submit(() => this._isSaved(model));
    if (job) {
      try {
        const { id } = job;
        await this._options.app.commands.execute(CommandIDs.openJob, { id });
      } finally {
        widget.dispose();
      }
    }
  }

  private _dryRun({ model }: LaunchWidget): Promise<void> {
    return model.dryRun(() => this._isSaved(model));
  }

  /** Whether the disk has what the job is to run, or what the user wants it to. */
  private async _isSaved({ state: { path } }: LaunchModel): Promise<boolean> {
    return path === null || (await this._options.files.saved(path));
  }

  private readonly _paths = new WeakMap<LaunchModel, string | null>();
}

function addCommands(
  app: JupyterFrontEnd,
  jobs: IJobs,
  files: LaunchFiles,
  tabs: LaunchTabs,
  trans: TranslationBundle
): void {
  const { commands } = app;
  const targets = (args: ReadonlyPartialJSONObject): string[] => {
    if (typeof args.path === 'string') {
      return [args.path];
    }
    return args.selected ? files.selected : files.inFront;
  };

  commands.addCommand(CommandIDs.launch, {
    label: trans.__('Run as Distributed Job'),
    caption: trans.__('Run this file with torchrun, apart from the lab'),
    icon: args => (args.toolbar ? undefined : jobIcon),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          path: {
            type: 'string',
            description:
              'Script or notebook; the one in front of the lab by default'
          },
          selected: {
            type: 'boolean',
            description: 'Run what is selected in the file browser'
          },
          tab: {
            type: 'string',
            description: 'A launch tab whose edits are taken up again'
          }
        }
      }
    },
    isEnabled: args => targets(args).length > 0,
    // Not in the context menu of a file that can't be run.
    isVisible: args =>
      targets(args).length > 0 || !(args.selected || files.isDocumentInFront),
    execute: async args => {
      if (typeof args.tab === 'string') {
        const path = typeof args.path === 'string' ? args.path : null;
        tabs.open(path, { tab: args.tab });
        return;
      }
      for (const target of targets(args)) {
        const path = files.local(target);
        if (path === null || !(await files.saved(path))) {
          continue;
        }
        if (isYaml(path)) {
          const text = await files.read(path);
          const name = baseName(path);
          tabs.open(null, { manifest: { name, path, text } });
        } else {
          tabs.open(path);
        }
      }
    }
  });

  commands.addCommand(CommandIDs.pasteManifest, {
    label: trans.__('Paste a Job’s Manifest…'),
    caption: trans.__('Open the form with a manifest from elsewhere'),
    describedBy: { args: {} },
    execute: () => tabs.paste()
  });

  addCloneCommand(app, jobs, tabs, trans);
}

/** A button of each editor and notebook for its own file, whichever is in front. */
function addToolbarButtons(
  app: JupyterFrontEnd,
  toolbars: IToolbarWidgetRegistry | null,
  trans: TranslationBundle
): void {
  const create = ({ context }: IDocumentWidget): ToolbarButton => {
    const button = new ToolbarButton({
      icon: jobIcon,
      tooltip: trans.__('Run as Distributed Job'),
      onClick: () =>
        void app.commands.execute(CommandIDs.launch, { path: context.path })
    });
    const update = (
      _: DocumentRegistry.IContext<DocumentRegistry.IModel>,
      path: string
    ): void => button.setHidden(!isRunnable(path));
    context.pathChanged.connect(update);
    button.disposed.connect(() => context.pathChanged.disconnect(update));
    update(context, context.path);
    return button;
  };
  for (const factory of ['Notebook', 'Editor']) {
    toolbars?.addFactory<IDocumentWidget>(factory, TOOLBAR_ITEM, create);
  }
}
