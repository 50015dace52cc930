import { WidgetTracker } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import { jobIcon } from '../ui/icons';
import { baseName } from '../common/contentsPath';
import type { ILaunchFormHandle } from './form/LaunchForm';
import type { LaunchModel } from './model/launch';
import type { IClone, IManifest } from './model/state';
import { DeferredWidget } from '../shell/deferred';
import { showTab } from '../shell/showTab';
import type { LaunchWidget } from './widget';
import { notifyError } from '../shell/notices';
import type { IBeginning, ILaunchParts } from './page';

export interface ILaunchTabsOptions extends ILaunchParts {
  tracker: WidgetTracker<LaunchTab>;
}

interface ILaunchTabOptions extends IBeginning {
  /** The file that the form is for; null if the job runs none. */
  path: string | null;
  /** Names the tab in the store. */
  tab: string;
  load: () => Promise<LaunchWidget>;
  trans: TranslationBundle;
}

/** A launch tab, whose form is loaded with the first one. */
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

  /** Names the tab in the store. */
  get tab(): string {
    return this._beginning.tab;
  }

  get path(): string | null {
    return this._model ? this._model.state.path : this._beginning.path;
  }

  get clone(): IClone | null {
    return (this._model?.state ?? this._beginning).clone ?? null;
  }

  get manifest(): IManifest | null {
    return (this._model ?? this._beginning).manifest ?? null;
  }

  private get _model(): LaunchModel | null {
    return this.content?.model ?? null;
  }
}

/** The launch tabs that are open. */
export class LaunchTabs {
  constructor(private readonly _options: ILaunchTabsOptions) {}

  /** Open a tab, or go to the one that is open for the same file or job. */
  open(path: string | null, { clone, manifest, tab }: IBeginning = {}): void {
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
    showTab(app.shell, widget);
  }

  /** The form of the tab in front, if it is shown. */
  get formInFront(): ILaunchFormHandle | null {
    const { app, tracker } = this._options;
    const { currentWidget } = tracker;
    return currentWidget === app.shell.currentWidget
      ? (currentWidget?.content?.form ?? null)
      : null;
  }

  /** Ask for a manifest, and open a tab with it. */
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
      notifyError(error, trans); // the dialog could not be loaded
    }
  }

  /** A file was saved: forms for it show its options anew. */
  onSaved(path: string): void {
    this._options.tracker.forEach(({ content }) => {
      if (content?.model.state.path === path) {
        void content.model.readScript();
      }
    });
  }

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
      // The restorer keeps a tab's path, which can change.
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
