/** Frame that shows TensorBoard's page. */

import { IThemeManager } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { IFrame } from '@jupyterlab/ui-components';
import { TensorBoardModel } from './model/board';
import {
  frameRefusals,
  preferSettings,
  pressReload,
  tellVisibility,
  themedUrl
} from './model/tensorboard';

/** Delay of a reload after new data, in ms. TensorBoard reads the event files every 5 s. */
const NEW_DATA_DELAY = 6000;

/** The frame that shows TensorBoard's page in JupyterLab's theme. */
export class TensorBoardFrame extends IFrame {
  constructor(
    private readonly _model: TensorBoardModel,
    private readonly _themes: IThemeManager | null,
    trans: TranslationBundle
  ) {
    super({
      sandbox: [
        'allow-scripts',
        'allow-same-origin',
        'allow-forms',
        'allow-popups',
        'allow-downloads'
      ]
    });
    preferSettings(window.localStorage);
    this.addClass('jp-t9k-TensorBoard-frame');
    this.url = this._address;
    this._iframe.setAttribute('title', trans.__('TensorBoard'));
    this._iframe.addEventListener('load', () => void this._onLoad());
    _themes?.themeChanged.connect(this.reload, this);
    _model.dataArrived.connect(this._onData, this);
  }

  override dispose(): void {
    window.clearTimeout(this._newData);
    super.dispose();
  }

  /** Load the page again and keep its URL fragment, which is its current view. */
  reload(): void {
    const iframe = this._iframe;
    const page = iframe.contentDocument && iframe.contentWindow;
    if (!page) {
      iframe.src = this._address; // the browser shows an error page
      return;
    }
    const { location } = page;
    const target = new URL(this._address, location.href);
    target.hash = location.hash;
    if (target.href === location.href) {
      location.reload();
    } else {
      location.replace(target);
    }
  }

  /** Make the page load its data again, and keep the rest of the page; load the whole page if it is not loaded. */
  refresh(): void {
    const page = this._iframe.contentDocument;
    if (!page || !pressReload(page)) {
      this.reload();
    }
  }

  /** Set whether the JupyterLab tab is visible; the page reads this value. */
  setTabVisible(visible: boolean): void {
    this._isTabVisible = visible;
    const page = this._iframe.contentDocument;
    if (page) {
      tellVisibility(page, visible);
    }
  }

  /** Reload the data of the page soon, because the page itself does so only every 30 s. */
  private _onData(): void {
    this._newData ||= window.setTimeout(() => {
      this._newData = 0;
      const page = this._iframe.contentDocument;
      if (page && this._isTabVisible && preferSettings(window.localStorage)) {
        pressReload(page);
      }
    }, NEW_DATA_DELAY);
  }

  /**
   * Detect whether the browser shows the page.
   *
   * A browser that refuses to show the page shows an error page of another origin, which the frame cannot access.
   */
  private async _onLoad(): Promise<void> {
    if (this._iframe.contentDocument) {
      this.setTabVisible(this._isTabVisible);
      this._model.refusals = null;
    } else if (this._model.board) {
      this._model.refusals = await frameRefusals(this._address).catch(() => []);
    }
  }

  private get _address(): string {
    const theme = this._themes?.theme;
    const dark = theme ? !this._themes?.isLight(theme) : false;
    return themedUrl(this._model.url ?? '', dark);
  }

  private get _iframe(): HTMLIFrameElement {
    return this.node.querySelector('iframe') as HTMLIFrameElement;
  }

  private _isTabVisible = true;
  private _newData = 0;
}
