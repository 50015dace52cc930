/** Widget of the status bar's item. */

import { ReactWidget } from '@jupyterlab/ui-components';
import { Popup, showPopup } from '@jupyterlab/statusbar';
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Throttler } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';
import * as React from 'react';
import { countsText, StatusPopup, StatusText } from './Status';
import { IJobsModel } from '../tokens';

/** The minimum time between two counts, in ms. */
const INTERVAL = 250;

/** The item “2 running, 1 pending” with a popup. It renders again only if the counts have changed. */
export class StatusWidget extends ReactWidget {
  constructor(
    private readonly _jobs: IJobsModel,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-t9k-StatusItem');
    _jobs.changed.connect(this._onChange, this);
  }

  /** True if the user has active jobs; otherwise JupyterLab hides the item. */
  get isActive(): boolean {
    return this._counts !== '';
  }

  /** Emitted when `isActive` changes. */
  get activeChanged(): ISignal<this, void> {
    return this._activeChanged;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.clearData(this);
      this._counting.dispose();
      this._popup?.dispose();
      super.dispose();
    }
  }

  protected override render(): React.JSX.Element {
    return (
      <StatusText
        counts={this._counts}
        onClick={() => this._toggle()}
        trans={this._trans}
      />
    );
  }

  private _onChange(): void {
    void this._counting.invoke();
  }

  private _count(): void {
    const own = this._jobs.jobs.filter(({ mine }) => mine);
    const counts = countsText(own, this._trans);
    if (counts !== this._counts) {
      const changes = (counts === '') !== (this._counts === '');
      this._counts = counts;
      this.update();
      if (changes) {
        this._activeChanged.emit();
      }
    }
  }

  /** Open the popup, or close it. */
  private _toggle(): void {
    if (this._popup && !this._popup.isDisposed) {
      this._popup.dispose();
      return;
    }
    const body = ReactWidget.create(
      <StatusPopup
        jobs={this._jobs}
        run={(command, args = {}) => {
          this._popup?.dispose();
          void this._commands.execute(command, args);
        }}
        trans={this._trans}
      />
    );
    body.addClass('jp-t9k-View');
    body.addClass('jp-t9k-StatusPopup');
    this._popup = showPopup({
      body,
      anchor: this,
      align: 'left',
      hasDynamicSize: true
    });
    this._popup.disposed.connect(() =>
      this.node.querySelector('button')?.focus()
    );
  }

  private readonly _counting = new Throttler(() => this._count(), {
    limit: INTERVAL,
    edge: 'trailing'
  });
  private _counts = '';
  private _popup: Popup | null = null;
  private _activeChanged = new Signal<this, void>(this);
}
