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

/** How long (ms) loading may take before it is mentioned. */
const MENTIONED_AFTER = 300;

interface IDeferredOptions<T extends Widget> {
  /** Load the code and create the content; called again when the user tries again. */
  load: () => Promise<T>;
  trans: TranslationBundle;
}

/** Places whose content could not be loaded. */
const failed = new Set<DeferredWidget<Widget>>();

/**
 * A place in the lab whose content is loaded on first use.
 *
 * The place itself, with its id and title, is there at once, so that the lab can restore it. The title follows the
 * content's, if the content has one. A failure to load is shown in the place.
 */
export class DeferredWidget<T extends Widget> extends BoxPanel {
  constructor(private readonly _options: IDeferredOptions<T>) {
    super();
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-Deferred');
    this.addWidget(this._notice);
  }

  /** Resolves once the content is there, with null if the place is closed before that. */
  get loaded(): Promise<T | null> {
    return this._loaded.promise;
  }

  /** Null until it is loaded. */
  get content(): T | null {
    return this._content;
  }

  override dispose(): void {
    failed.delete(this);
    super.dispose();
    this._loaded.resolve(null);
  }

  /** Load the content, unless it is there or being loaded. */
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
      // What hindered this one is over, and perhaps hindered the others.
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

  /** The content takes the focus when it is there. */
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    if (this._content) {
      this._content.activate();
    } else {
      this.node.focus();
    }
  }

  /** Whoever closes a tab and opens it again gets a new one. */
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
  /** Why it could not be loaded; null if nothing has failed yet. */
  error: unknown;
  isLoading: boolean;
  retry(): void;
  trans: TranslationBundle;
}

/** What stands in the place of content that is not there. */
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

/** Whether the code itself did not come, as webpack tells it. */
function isOfCode(error: unknown): boolean {
  return (
    error instanceof Error &&
    ['ChunkLoadError', 'ScriptExternalLoadError'].includes(error.name)
  );
}
