import { ReactWidget } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { ISignal, Signal } from '@lumino/signaling';
import * as React from 'react';
import {
  IMonitorModel,
  ISidebarState,
  Monitor
} from '../components/sidebar/Monitor';
import { jobIcon } from '../icons';
import { IJobs } from '../tokens';
import { openJobMenu } from './jobMenu';

/** The sidebar “Distributed Jobs”. */
export class MonitorWidget extends ReactWidget {
  constructor(
    private readonly _jobs: IJobs,
    readonly model: MonitorModel,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.id = 't9kjob-monitor';
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-Sidebar');
    this.title.icon = jobIcon;
    this.title.caption = _trans.__('Distributed Jobs');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('Distributed Jobs'));
  }

  protected override render(): React.JSX.Element {
    return (
      <Monitor
        jobs={this._jobs}
        model={this.model}
        run={this._run}
        openMenu={this._openMenu}
        trans={this._trans}
      />
    );
  }

  private _run = (command: string, args = {}): void => {
    void this._commands.execute(command, args);
  };

  private _openMenu = (id: string, x: number, y: number): void =>
    openJobMenu(this._commands, id, x, y);
}

/** What the sidebar shows besides the jobs: folded sections, and which job is in front. */
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

  /** Fold a section, or unfold it. */
  fold(section: string): void {
    const folded = new Set(this._state.folded);
    if (!folded.delete(section)) {
      folded.add(section);
    }
    this.state = { ...this._state, folded: [...folded] };
  }

  /** Show the jobs that were deleted, too, or no longer. */
  showDeleted(showDeleted: boolean): void {
    this.state = { ...this._state, showDeleted };
  }

  /** Hide the jobs of others, or show them. */
  showOnlyMine(onlyMine: boolean): void {
    this.state = { ...this._state, onlyMine };
  }

  private _state: ISidebarState;
  private _current: string | null = null;
  private _changed = new Signal<this, void>(this);
}
