/** Plugin of the launch form: commands, toolbar buttons, launcher entry and restored tabs. */
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
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { jobIcon } from '../ui/icons';
import { baseName } from '../common/contentsPath';
import { selectedCells } from '../shell/notebooks';
import { LaunchStore } from './model/store';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { addCloneCommand } from './cloneJob';
import { isRunnable, LaunchFiles, SETTINGS } from './files';
import { LaunchTab, LaunchTabs } from './tabs';
import { isYaml, ManifestFiles } from './manifestFiles';

/** Name of the toolbar button in the settings schema. */
const TOOLBAR_ITEM = 'run-as-distributed-job';

/** Plugin that opens launch tabs. */
export const launchPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:launch',
  description: 'Opens the form that runs a script or notebook as a job.',
  autoStart: true,
  requires: [IJobsModel, IDocumentManager, IEditorServices],
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
    jobs: IJobsModel,
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
    const tracker = new WidgetTracker<LaunchTab>({
      namespace: 't9kjob-launch'
    });
    const presets = new PresetImages(settings);
    const tabs = new LaunchTabs({
      ...{ app, jobs, files, store, tracker, trans },
      presetImages: () => presets.images,
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
    palette?.addItem({ command: CommandIDs.launchCells, category });
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
      args: ({ path, tab }) => ({ path, tab }),
      name: ({ tab }) => tab
    });
  }
};

/** Keeps the images from the settings current. */
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

  /** Images from the settings; empty before the settings have loaded. */
  get images(): readonly string[] {
    return this._images;
  }

  private _images: string[] = [];
}

/** Add the commands that open and submit the form. */
function addCommands(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
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
    caption: trans.__('Run this file as a job that is independent of the lab'),
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
    // Hide the command in menus of files that can't run as jobs.
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

  commands.addCommand(CommandIDs.launchCells, {
    label: trans.__('Run Selected Cells as Distributed Job'),
    caption: trans.__(
      'Run the selected cells with torchrun, apart from the lab'
    ),
    icon: args => (args.toolbar ? undefined : jobIcon),
    describedBy: { args: {} },
    isEnabled: () => selectedCells(app.shell.currentWidget).length > 0,
    isVisible: () => selectedCells(app.shell.currentWidget).length > 0,
    execute: async () => {
      const cells = selectedCells(app.shell.currentWidget);
      const path = files.local(files.inFront[0] ?? '');
      if (path && (await files.saved(path))) {
        tabs.open(path, { cells });
      }
    }
  });

  commands.addCommand(CommandIDs.pasteManifest, {
    label: trans.__('Paste a Job’s Manifest…'),
    caption: trans.__('Open the launch form with a pasted manifest'),
    describedBy: { args: {} },
    execute: () => tabs.paste()
  });

  commands.addCommand(CommandIDs.submit, {
    label: trans.__('Submit Job'),
    describedBy: { args: {} },
    isEnabled: () => tabs.formInFront !== null,
    execute: () => tabs.formInFront?.submit()
  });

  addCloneCommand(app, jobs, tabs, trans);
}

/** Add a button to each editor and notebook that runs its file as a job. */
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
