import { ReactWidget } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import * as React from 'react';
import { ILaunchActions } from '../components/launch/context';
import { LaunchView } from '../components/launch/LaunchView';
import { jobIcon } from '../icons';
import { LaunchModel } from '../model/launch';
import { LaunchStore } from '../model/launchStore';

interface ILaunchWidgetOptions {
  model: LaunchModel;
  store: LaunchStore;
  /** Names the tab in the store. */
  tab: string;
  actions: ILaunchActions;
  editors: IEditorServices;
  trans: TranslationBundle;
}

/** A launch tab: “Run train.py”. Closing it forgets its edits; reloading the page does not. */
export class LaunchWidget extends ReactWidget {
  constructor(private readonly _options: ILaunchWidgetOptions) {
    super();
    const { model, tab } = _options;
    this.id = `t9kjob-launch-${tab}`;
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-LaunchTab');
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    this.title.closable = true;
    this._updateTitle();
    model.changed.connect(this._updateTitle, this);
    void model.open();
  }

  get model(): LaunchModel {
    return this._options.model;
  }

  get tab(): string {
    return this._options.tab;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      const { model, store, tab } = this._options;
      model.dispose();
      void store.removeTab(tab);
      super.dispose();
    }
  }

  protected override render(): React.JSX.Element {
    const { model, store, actions, editors, trans } = this._options;
    return (
      <LaunchView
        model={model}
        store={store}
        actions={actions}
        editors={editors}
        trans={trans}
        prefix={`${this.id}:`}
      />
    );
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    if (!this.node.contains(document.activeElement)) {
      this.node.focus();
    }
  }

  private _updateTitle(): void {
    const { model, trans } = this._options;
    this.title.label = trans.__('Run %1', model.name);
    this.title.caption = model.state.path ?? '';
  }
}
