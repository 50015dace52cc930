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
import { IClone } from '../model/launchState';
import { LaunchStore } from '../model/launchStore';
import { CommandIDs, IJobs } from '../tokens';
import { loadTranslation } from '../translation';
import { LaunchWidget } from '../widgets/launch';
import { notifyError } from '../widgets/notices';
import { isRunnable, LaunchFiles } from './launchFiles';

/** The name of our button in the schema's toolbars. */
const TOOLBAR_ITEM = 'run-as-distributed-job';

/** The launch tab, and the ways to it. */
export const launchPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:launch',
  description: 'Opens the form that runs a script or notebook as a job.',
  autoStart: true,
  requires: [IJobs, IDocumentManager],
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
    const files = new LaunchFiles({
      app,
      manager,
      browsers,
      editors,
      settings,
      translator,
      trans
    });
    const tracker = new WidgetTracker<LaunchWidget>({
      namespace: 't9kjob-launch'
    });
    const tabs = new LaunchTabs(app, jobs, files, store, tracker, trans);

    addCommands(app, jobs, files, tabs, trans);
    addToolbarButtons(app, toolbars, trans);
    const category = trans.__('Distributed Jobs');
    palette?.addItem({ command: CommandIDs.launch, category });
    launcher?.add({ command: CommandIDs.chooseScript, category, rank: 1 });
    app.serviceManager.contents.fileChanged.connect((_, { type, newValue }) => {
      if (type === 'save' && newValue?.path) {
        tabs.onSaved(files.localPath(newValue.path));
      }
    });
    void restorer?.restore(tracker, {
      command: CommandIDs.launch,
      args: ({ model, tab }) => ({ path: model.state.path, tab }),
      name: ({ tab }) => tab
    });
  }
};

/** The launch tabs that are open. */
class LaunchTabs {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _jobs: IJobs,
    private readonly _files: LaunchFiles,
    private readonly _store: LaunchStore,
    private readonly _tracker: WidgetTracker<LaunchWidget>,
    private readonly _trans: TranslationBundle
  ) {}

  /** Open a tab, or go to the one that is open for the same file or job. */
  open(path: string | null, clone: IClone | null = null, tab?: string): void {
    const { shell } = this._app;
    let widget = this._tracker.find(open =>
      tab
        ? open.tab === tab
        : open.model.state.path === path &&
          open.model.state.clone?.name === clone?.name
    );
    if (!widget) {
      widget = this._create(path, clone, tab ?? UUID.uuid4());
      shell.add(widget, 'main', { type: 'Distributed Job' });
      void this._tracker.add(widget);
      widget.model.changed.connect(this._onChange, this);
    }
    shell.activateById(widget.id);
  }

  /** A file was saved: forms for it show its options anew. */
  onSaved(path: string): void {
    this._tracker.forEach(({ model }) => {
      if (model.state.path === path) {
        void model.readScript();
      }
    });
  }

  /** The restorer keeps a tab's path, which can change. */
  private _onChange(model: LaunchModel): void {
    const widget = this._tracker.find(each => each.model === model);
    if (widget && this._paths.get(model) !== model.state.path) {
      this._paths.set(model, model.state.path);
      void this._tracker.save(widget);
    }
  }

  private _create(
    path: string | null,
    clone: IClone | null,
    tab: string
  ): LaunchWidget {
    const { _store: store, _trans: trans, _files: files } = this;
    const { api } = this._jobs;
    const model = new LaunchModel({ api, store, trans, tab, path, clone });
    const actions: ILaunchActions = {
      openFile: (file, line) => void files.open(file, line ?? null),
      chooseFile: () => files.chooseScript(model.state.path ?? ''),
      chooseFolder: () => files.chooseFolder(model.state.path ?? ''),
      submit: () => void this._submit(widget),
      dryRun: () => void this._dryRun(widget)
    };
    const widget = new LaunchWidget({ model, store, tab, actions, trans });
    return widget;
  }

  /** Create the job, show it, and close the form: its last time is remembered. */
  private async _submit(widget: LaunchWidget): Promise<void> {
    const { model } = widget;
    const job = (await this._isSaved(model)) && (await model.submit());
    if (job) {
      await this._app.commands.execute(CommandIDs.openJob, { id: job.id });
      widget.dispose();
    }
  }

  private async _dryRun({ model }: LaunchWidget): Promise<void> {
    if (await this._isSaved(model)) {
      await model.dryRun();
    }
  }

  /** Whether the disk has what the job is to run, or what the user wants it to. */
  private async _isSaved({ state: { path } }: LaunchModel): Promise<boolean> {
    return path === null || (await this._files.saved(path));
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
      return [files.localPath(args.path)];
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
    // Not in the context menu of a text that can't be run.
    isVisible: args => targets(args).length > 0 || !files.isDocumentInFront,
    execute: async args => {
      if (typeof args.tab === 'string') {
        const path = typeof args.path === 'string' ? args.path : null;
        tabs.open(path, null, args.tab);
        return;
      }
      for (const path of targets(args)) {
        if (await files.saved(path)) {
          tabs.open(path);
        }
      }
    }
  });

  commands.addCommand(CommandIDs.clone, {
    label: trans.__('Clone…'),
    caption: trans.__('Start the form from this job'),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'Id of the job' }
        },
        required: ['id']
      }
    },
    isEnabled: args => typeof args.id === 'string',
    execute: async args => {
      try {
        const job = await jobs.api.job(String(args.id));
        const name = job.display_name ?? job.name;
        tabs.open(job.entrypoint_path, { name, spec: job.spec });
      } catch (error) {
        notifyError(error, trans);
      }
    }
  });
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
