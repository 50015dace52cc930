/** Base of the pages that tabs show. */
import { ReactWidget } from '@jupyterlab/apputils';
import { LabIcon } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { jobIcon } from '../ui/icons';

/** Model of a page. */
interface IPageModel {
  dispose(): void;
  /** Called when the page is shown or hidden, for models that read only while their page is visible. */
  setVisible?(isVisible: boolean): void;
}

interface IPageOptions {
  /** CSS class of the page. */
  className: string;
  /** Title of the tab. */
  label: string;
  icon?: LabIcon;
  /** Selector of the element that takes the focus when the tab is activated; the heading by default. */
  focus?: string;
}

/** Content of a tab that shows a model. The model is disposed of with the page. */
export abstract class PageWidget<Model extends IPageModel> extends ReactWidget {
  constructor(
    readonly model: Model,
    { className, label, icon = jobIcon, focus = 'h2' }: IPageOptions
  ) {
    super();
    this._focus = focus;
    this.addClass('jp-t9k-View');
    this.addClass(className);
    this.node.tabIndex = -1;
    this.title.icon = icon;
    this.title.label = label;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this.model.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.model.setVisible?.(this.isVisible);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.model.setVisible?.(true);
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this.model.setVisible?.(false);
  }

  /** Focus the heading or the table, or the page itself while neither is shown. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    if (!this.node.contains(document.activeElement)) {
      const target = this.node.querySelector<HTMLElement>(this._focus);
      (target ?? this.node).focus({ preventScroll: true });
    }
  }

  private readonly _focus: string;
}
