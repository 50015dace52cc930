/** Widget and state of the sidebar. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ReactWidget } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import type { IMonitorModel, ISidebarState } from './view/Monitor';
import { jobIcon } from '../ui/icons';
import { IJobsModel } from '../tokens';
import { DeferredWidget } from '../shell/deferred';

/** The sidebar “Distributed Jobs”. Its content is loaded when the sidebar is shown for the first time. */
export class MonitorWidget extends DeferredWidget<ReactWidget> {
  constructor(
    jobs: IJobsModel,
    model: MonitorModel,
    app: JupyterFrontEnd,
    trans: TranslationBundle
  ) {
    super({
      load: async () => {
        const { createMonitor } = await import('./body');
        return createMonitor(jobs, model, app, trans);
      },
      trans
    });
    this.id = 't9kjob-monitor';
    this.title.icon = jobIcon;
    this.title.caption = trans.__('Distributed Jobs');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Distributed Jobs'));
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      void this.load();
    }
  }

  protected override onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    void this.load();
  }
}

/** State of the sidebar: folded sections, shown jobs, and the job of the current tab. */
export class MonitorModel implements IMonitorModel {
  constructor(
    state: ISidebarState = {
      folded: [],
      showDeleted: false,
      onlyMine: true
    }
  ) {
    this._state = state;
  }

  get state(): ISidebarState {
    return this._state;
  }

  set state(state: ISidebarState) {
    this._state = state;
    this._changed.emit();
  }

  get current(): string | null {
    return this._current;
  }

  set current(current: string | null) {
    if (current !== this._current) {
      this._current = current;
      this._changed.emit();
    }
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Fold or unfold a section. */
  fold(section: string): void {
    const folded = new Set(this._state.folded);
    if (!folded.delete(section)) {
      folded.add(section);
    }
    this.state = { ...this._state, folded: [...folded] };
  }

  /** Show or hide deleted jobs. */
  showDeleted(showDeleted: boolean): void {
    this.state = { ...this._state, showDeleted };
  }

  /** Hide or show the jobs of other users. */
  showOnlyMine(onlyMine: boolean): void {
    this.state = { ...this._state, onlyMine };
  }

  private _state: ISidebarState;
  private _current: string | null = null;
  private _changed = new Signal<this, void>(this);
}
