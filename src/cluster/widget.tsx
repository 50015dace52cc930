/** Widget of the tab “Cluster Nodes”. */
import { ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import * as React from 'react';
import { NodesView } from './view/NodesView';
import { jobIcon } from '../ui/icons';
import { NodesModel } from './model/nodes';
import '../../style/pages.css';

/** Content of the tab “Cluster Nodes”. */
export class NodesWidget extends ReactWidget {
  constructor(
    readonly model: NodesModel,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-NodesTab');
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    this.title.label = _trans.__('Cluster Nodes');
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this.model.dispose();
    }
  }

  /** Focus the table, or the tab if there is no table yet. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    if (!this.node.contains(document.activeElement)) {
      const grid = this.node.querySelector<HTMLElement>('[role="grid"]');
      (grid ?? this.node).focus({ preventScroll: true });
    }
  }

  protected override render(): React.JSX.Element {
    return <NodesView model={this.model} trans={this._trans} />;
  }
}
