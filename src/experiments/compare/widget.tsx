/** Widget of a comparison's page. */
import { ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import * as React from 'react';
import { jobIcon } from '../../ui/icons';
import { IRunLab } from '../run/pageLab';
import { CompareModel } from './model';
import { CompareView } from './CompareView';
import '../../../style/pages.css';
import '../../../style/experiments/pages.css';

/** Content of a comparison's tab. */
export class CompareWidget extends ReactWidget {
  constructor(
    readonly model: CompareModel,
    lab: Omit<IRunLab, 'close'>,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this._lab = { ...lab, close: () => this.parent?.dispose() };
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-CompareTab');
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    const count = model.ids.length;
    this.title.label = _trans._n('Compare %1 run', 'Compare %1 runs', count);
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

  /** Focus the heading, or the tab before the runs are known. */
  protected override onActivateRequest(): void {
    if (!this.node.contains(document.activeElement)) {
      const heading = this.node.querySelector<HTMLElement>('h2');
      (heading ?? this.node).focus({ preventScroll: true });
    }
  }

  protected override render(): React.JSX.Element {
    return (
      <CompareView model={this.model} lab={this._lab} trans={this._trans} />
    );
  }

  private readonly _lab: IRunLab;
}
