/** Launch tabs of the lab's main area. */
import { WidgetTracker } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import { jobIcon } from '../ui/icons';
import { baseName } from '../common/contentsPath';
import type { ILaunchFormHandle } from './form/LaunchForm';
import type { LaunchModel } from './model/launch';
import type { ICellName } from './content/notebookCells';
import type { IClone, IManifest } from './model/state';
import { DeferredWidget } from '../shell/deferred';
import { showTab } from '../shell/showTab';
import type { LaunchWidget } from './widget';
import { notifyError } from '../shell/notices';
import type { IBeginning, ILaunchParts } from './page';

/** Services for launch tabs. */
export interface ILaunchTabsOptions extends ILaunchParts {
  tracker: WidgetTracker<LaunchTab>;
}

/** Options of a launch tab. */
interface ILaunchTabOptions extends IBeginning {
  /** Path of the form's file in the contents API; null if the job has no file. */
  path: string | null;
  /** Id of the tab in the store. */
  tab: string;
  /** Loads the content. */
  load: () => Promise<LaunchWidget>;
  trans: TranslationBundle;
}

/** Launch tab. The code of its form is loaded when the first tab opens. */
export class LaunchTab extends DeferredWidget<LaunchWidget> {
  constructor(private readonly _beginning: ILaunchTabOptions) {
    super(_beginning);
    const { path, clone, manifest, trans } = _beginning;
    this.id = `t9kjob-launch-${this.tab}`;
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    this.title.closable = true;
    const name =
      path === null ? (clone?.name ?? manifest?.name) : baseName(path);
    this.title.label = trans.__('Run %1', name ?? trans.__('Job'));
    this.title.caption = path ?? '';
  }

  /** Id of the tab in the store. */
  get tab(): string {
    return this._beginning.tab;
  }

  /** Path of the form's file; null if the job has no file. */
  get path(): string | null {
    return this._model ? this._model.state.path : this._beginning.path;
  }

  /** The job whose spec filled the form. */
  get clone(): IClone | null {
    return (this._model?.state ?? this._beginning).clone ?? null;
  }

  /** The manifest that filled the form. */
  get manifest(): IManifest | null {
    return (this._model ?? this._beginning).manifest ?? null;
  }

  private get _model(): LaunchModel | null {
    return this.content?.model ?? null;
  }
}

/** Content of a tab. */
interface ITarget extends IBeginning {
  /** Cells of the notebook that run. */
  cells?: readonly ICellName[];
}

/** Opens launch tabs and finds the open ones. */
export class LaunchTabs {
  constructor(private readonly _options: ILaunchTabsOptions) {}

  /** Open a tab, or show the open tab of the same file, job or manifest. */
  open(
    path: string | null,
    { clone, manifest, tab, cells }: ITarget = {}
  ): void {
    const { app, tracker } = this._options;
    let widget = tracker.find(open => {
      if (tab) {
        return open.tab === tab;
      }
      if (clone) {
        return open.clone?.id === clone.id && open.clone?.fix === clone.fix;
      }
      return manifest
        ? open.manifest?.path === manifest.path &&
            open.manifest?.text === manifest.text
        : open.path === path && !open.clone && !open.manifest;
    });
    if (!widget || manifest?.path === null) {
      widget = this._create(path, { clone, manifest, tab });
      void tracker.add(widget);
    }
    if (cells) {
      void widget.loaded.then(content => content?.model.chooseCells(cells));
    }
    showTab(app.shell, widget);
  }

  /** Actions of the form in the current tab; null if there is no filled form. */
  get formInFront(): ILaunchFormHandle | null {
    const { app, tracker } = this._options;
    const { currentWidget } = tracker;
    return currentWidget === app.shell.currentWidget
      ? (currentWidget?.content?.form ?? null)
      : null;
  }

  /** Let the user paste a manifest, and open a tab with it. */
  async paste(): Promise<void> {
    const { trans } = this._options;
    try {
      const { askForManifest } = await import('../job/manifests');
      const text = await askForManifest(trans);
      if (text !== null) {
        const name = trans.__('pasted manifest');
        this.open(null, { manifest: { name, path: null, text } });
      }
    } catch (error) {
      notifyError(error, trans); // the dialog's code could not be loaded
    }
  }

  /** Read a saved script again in the forms of the file, so that they show its new options. */
  onSaved(path: string): void {
    this._options.tracker.forEach(({ content }) => {
      if (content?.model.state.path === path) {
        void content.model.readScript();
      }
    });
  }

  /** Create a tab and start loading its content. */
  private _create(
    path: string | null,
    { clone, manifest, tab = UUID.uuid4() }: IBeginning
  ): LaunchTab {
    const { store, trans } = this._options;
    const options = { ...this._options, path, clone, manifest, tab };
    const widget: LaunchTab = new LaunchTab({
      ...{ path, clone, manifest, tab, trans },
      load: async () => {
        const { createLaunch } = await import('./page');
        return createLaunch({
          ...options,
          paste: () => void this.paste(),
          close: () => widget.dispose()
        });
      }
    });
    widget.disposed.connect(() => void store.removeTab(tab));
    void widget.loaded.then(content => {
      const model = content?.model;
      let saved = path;
      // Save the tab for the restorer when the user changes the form's file.
      model?.changed.connect(() => {
        if (saved !== model.state.path) {
          saved = model.state.path;
          void this._options.tracker.save(widget);
        }
      });
    });
    void widget.load();
    return widget;
  }
}
