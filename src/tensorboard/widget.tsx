/** Content of a TensorBoard's tab. */

import { IThemeManager, setToolbar } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, Toolbar } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { Panel } from '@lumino/widgets';
import * as React from 'react';
import { RunCommand } from '../common/commands';
import { tensorBoardIcon } from '../ui/icons';
import { TensorBoardFrame } from './frame';
import { IPageContent, TensorBoardModel } from './model/board';
import { TensorBoardPage } from './view/TensorBoardView';
import { IViewProps } from './view/tensorBoardTab';
import '../../style/pages.css';

/** Function that creates the items of a toolbar. */
export type CreateToolbar = Parameters<typeof setToolbar>[1];

interface ITensorBoardOptions {
  model: TensorBoardModel;
  createToolbar: CreateToolbar;
  run: RunCommand;
  themes: IThemeManager | null;
  trans: TranslationBundle;
}

/**
 * The content of a TensorBoard's tab: the toolbar, TensorBoard's page, and a message while the page is not shown.
 *
 * The frame of the page is created once and kept while the tab is hidden.
 */
export class TensorBoardWidget extends Panel {
  constructor(private readonly _options: ITensorBoardOptions) {
    super();
    const { model, createToolbar, run, trans } = _options;
    this.model = model;
    this.viewProps = {
      ...{ model, run, trans },
      reload: () => this._frame?.reload()
    };
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-TensorBoard');
    this.title.icon = tensorBoardIcon;
    this.title.label = trans.__('TensorBoard');
    this.node.tabIndex = -1;
    this.toolbar = new Toolbar();
    this.toolbar.addClass('jp-t9k-TensorBoard-toolbar');
    this.toolbar.node.setAttribute('aria-label', trans.__('TensorBoard'));
    setToolbar(this, createToolbar);
    this._page = ReactWidget.create(<TensorBoardPage {...this.viewProps} />);
    this._page.addClass('jp-t9k-TensorBoard-page');
    this.addWidget(this.toolbar);
    this.addWidget(this._page);
    model.changed.connect(this._onModel, this);
    this._onModel();
  }

  readonly model: TensorBoardModel;
  readonly toolbar: Toolbar;
  /** Properties of the tab's components and of the toolbar's items. */
  readonly viewProps: IViewProps;

  override dispose(): void {
    this.model.dispose();
    super.dispose();
  }

  /** Take the focus, because JupyterLab regards the widget with the focus as the current one. */
  protected override onActivateRequest(): void {
    this.node.focus();
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._frame?.setTabVisible(true);
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this._frame?.setTabVisible(false);
  }

  private _onModel(): void {
    const { model, themes, trans } = this._options;
    const { board, content } = model;
    if (board) {
      this.title.label = trans.__('TB: %1', board.label);
      this.title.caption = board.log_dirs.join('\n');
    }
    if (content !== this._content) {
      this._content = content;
      if (content === null) {
        this._frame?.dispose();
        this._frame = null;
      } else if (this._frame) {
        this._frame.refresh();
      } else {
        this._frame = new TensorBoardFrame(model, themes, trans);
        this._frame.setTabVisible(this.isVisible);
        this.addWidget(this._frame);
      }
    }
    this._frame?.setHidden(!model.isPageShown);
    this._page.setHidden(model.isPageShown);
  }

  private readonly _page: ReactWidget;
  private _frame: TensorBoardFrame | null = null;
  private _content: IPageContent | null = null;
}
