/** Widget whose content is loaded on first use. */

import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { PromiseDelegate } from '@lumino/coreutils';
import { Message } from '@lumino/messaging';
import { BoxPanel, Widget } from '@lumino/widgets';
import * as React from 'react';
import { Button } from '../ui/Buttons';
import { EmptyState } from '../ui/EmptyState';
import { useAfter } from '../common/hooks';
import { errorIcon } from '../ui/icons';

/** Loading is indicated after this time, in ms. */
const MENTIONED_AFTER = 300;

interface IDeferredOptions<T extends Widget> {
  /** Load the code and create the content. It is called again when the user tries again after an error. */
  load: () => Promise<T>;
  trans: TranslationBundle;
}

/** Widgets whose content could not be loaded. */
const failed = new Set<DeferredWidget<Widget>>();

/**
 * A widget whose content is loaded on first use.
 *
 * The widget has its id and title from the start, so that JupyterLab can restore it. The title follows the
 * content's title if the content has one. The widget shows an error if loading fails.
 */
export class DeferredWidget<T extends Widget> extends BoxPanel {
  constructor(private readonly _options: IDeferredOptions<T>) {
    super();
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-Deferred');
    this.addWidget(this._notice);
  }

  /** Resolves with the content when it is loaded, or with null if the widget is disposed before that. */
  get loaded(): Promise<T | null> {
    return this._loaded.promise;
  }

  /** The content; null until it is loaded. */
  get content(): T | null {
    return this._content;
  }

  override dispose(): void {
    failed.delete(this);
    super.dispose();
    this._loaded.resolve(null);
  }

  /** Load the content, unless it is loaded or being loaded. */
  async load(): Promise<void> {
    if (this._isLoading || this._content || this.isDisposed) {
      return;
    }
    this._isLoading = true;
    this._notice.update();
    failed.delete(this);
    try {
      const content = await this._options.load();
      if (this.isDisposed) {
        content.dispose();
      } else {
        this._show(content);
      }
      // The cause of the failure may have affected the other widgets, and it is gone now.
      failed.forEach(other => void other.load());
    } catch (error) {
      console.warn('t9kjob: loading a part of the extension:', error);
      this._error = error;
      failed.add(this);
    } finally {
      this._isLoading = false;
    }
    if (!this.isDisposed && !this._content) {
      this._notice.update();
    }
  }

  /** Focus the content, or the widget itself until the content is loaded; `_show` then passes the focus on. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    if (this._content) {
      this._content.activate();
    } else {
      this.node.focus();
    }
  }

  /** Dispose of the widget, because a new widget is created when the tab is opened again. */
  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    this.dispose();
  }

  private _show(content: T): void {
    const { title } = this;
    const entitle = (): void => {
      const { label, caption, icon } = content.title;
      if (label) {
        Object.assign(title, { label, caption, icon });
      }
    };
    const hadFocus = this.node.contains(document.activeElement);
    this._content = content;
    content.title.changed.connect(entitle);
    entitle();
    this._notice.dispose();
    this.addWidget(content);
    if (hadFocus) {
      content.activate();
    }
    this._loaded.resolve(content);
  }

  private _render(): React.JSX.Element {
    return (
      <Notice
        error={this._error}
        isLoading={this._isLoading}
        retry={() => void this.load()}
        trans={this._options.trans}
      />
    );
  }

  private readonly _notice = new NoticeWidget(() => this._render());
  private readonly _loaded = new PromiseDelegate<T | null>();
  private _content: T | null = null;
  private _error: unknown = null;
  private _isLoading = false;
}

class NoticeWidget extends ReactWidget {
  constructor(private readonly _render: () => React.JSX.Element) {
    super();
  }

  protected override render(): React.JSX.Element {
    return this._render();
  }
}

interface INoticeProps {
  /** The error of the last attempt to load the content; null if loading has not failed. */
  error: unknown;
  isLoading: boolean;
  retry(): void;
  trans: TranslationBundle;
}

/** The message shown until the content is loaded. */
function Notice({
  error,
  isLoading,
  retry,
  trans
}: INoticeProps): React.JSX.Element {
  const isSlow = useAfter(isLoading && error === null, MENTIONED_AFTER);
  if (error === null) {
    return (
      <p className="jp-t9k-Deferred-wait" role="status">
        {isSlow && trans.__('Loading…')}
      </p>
    );
  }
  return (
    <div role="alert">
      <EmptyState
        icon={errorIcon}
        title={trans.__('This part of Distributed Jobs could not be loaded')}
        actions={
          <Button
            kind="primary"
            aria-disabled={isLoading}
            onClick={isLoading ? undefined : retry}
          >
            {isLoading ? trans.__('Loading…') : trans.__('Try again')}
          </Button>
        }
      >
        {isOfCode(error) && (
          <p>
            {trans.__(
              'The server cannot be reached, or the extension was updated after you opened JupyterLab. After an update, reload the browser page.'
            )}
          </p>
        )}
        <p className="jp-t9k-caption">{String(error)}</p>
      </EmptyState>
    </div>
  );
}

/** Return true if webpack reports that it could not load the code. */
function isOfCode(error: unknown): boolean {
  return (
    error instanceof Error &&
    ['ChunkLoadError', 'ScriptExternalLoadError'].includes(error.name)
  );
}
