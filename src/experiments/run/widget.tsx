/** Widget of a run's page. */
import { ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import * as React from 'react';
import { jobIcon } from '../../ui/icons';
import { IRunLab } from './pageLab';
import { RunModel } from './model/run';
import { RunView } from './RunView';
import { tabTitle } from '../open';
import '../../../style/pages.css';
import '../../../style/experiments/pages.css';

/** Content of a run's tab. */
export class RunWidget extends ReactWidget {
  constructor(
    readonly model: RunModel,
    lab: Omit<IRunLab, 'close'>,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this._lab = { ...lab, close: () => this.parent?.dispose() };
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-RunTab');
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    this.title.label = _trans.__('Run');
    model.changed.connect(this._entitle, this);
    this._entitle();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this.model.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.model.setVisible(this.isVisible);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.model.setVisible(true);
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this.model.setVisible(false);
  }

  /** Focus the run's name, or the tab before the run is known. */
  protected override onActivateRequest(): void {
    if (!this.node.contains(document.activeElement)) {
      const name = this.node.querySelector<HTMLElement>('h2');
      (name ?? this.node).focus({ preventScroll: true });
    }
  }

  protected override render(): React.JSX.Element {
    return <RunView model={this.model} lab={this._lab} trans={this._trans} />;
  }

  private _entitle(): void {
    const { row } = this.model;
    if (row) {
      this.title.label = tabTitle(row.name);
      this.title.caption = `${row.name}\n${row.sentence}`;
    }
  }

  private readonly _lab: IRunLab;
}
