/** Widget of the launch form. */
import { ReactWidget } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import * as React from 'react';
import { ILaunchActions } from './parts/context';
import { ILaunchFormHandle } from './form/LaunchForm';
import { LaunchView } from './form/LaunchView';
import { jobIcon } from '../ui/icons';
import { LaunchModel } from './model/launch';
import { LaunchStore } from './model/store';
import '../../style/pages.css';

/** Model and services of the widget. */
interface ILaunchWidgetOptions {
  model: LaunchModel;
  store: LaunchStore;
  /** Id of the tab in the store. */
  tab: string;
  actions: ILaunchActions;
  editors: IEditorServices;
  trans: TranslationBundle;
  /** Called when the user comes back to the form, from another tab or another window. */
  onReturn(): void;
}

/** Content of a launch tab; its title is, for example, “Run train.py”. */
export class LaunchWidget extends ReactWidget {
  constructor(private readonly _options: ILaunchWidgetOptions) {
    super();
    const { model } = _options;
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-LaunchTab');
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    this._updateTitle();
    model.changed.connect(this._updateTitle, this);
    void model.open();
  }

  /** Actions of the form; null before the form is filled. */
  get form(): ILaunchFormHandle | null {
    return this._form.current;
  }

  /** Model of the form. */
  get model(): LaunchModel {
    return this._options.model;
  }

  /** Id of the tab in the store. */
  get tab(): string {
    return this._options.tab;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.model.dispose();
      super.dispose();
    }
  }

  protected override render(): React.JSX.Element {
    const { model, store, tab, actions, editors, trans } = this._options;
    return (
      <LaunchView
        model={model}
        store={store}
        actions={actions}
        editors={editors}
        trans={trans}
        prefix={`t9kjob-launch-${tab}:`}
        handle={this._form}
      />
    );
  }

  /** Tell that the user comes back from another window. */
  handleEvent(event: Event): void {
    if (event.type === 'focus' && this.isVisible) {
      this._options.onReturn();
    }
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    window.addEventListener('focus', this);
  }

  protected override onBeforeDetach(msg: Message): void {
    window.removeEventListener('focus', this);
    super.onBeforeDetach(msg);
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._options.onReturn();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    if (!this.node.contains(document.activeElement)) {
      this.node.focus();
    }
  }

  /** Set the tab's title to the form's name. */
  private _updateTitle(): void {
    const { model, trans } = this._options;
    this.title.label = trans.__('Run %1', model.name);
    this.title.caption = model.state.path ?? '';
  }

  private readonly _form = React.createRef<ILaunchFormHandle>();
}
