import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/client';
import { JobSpec, LaunchPreview } from '../../api/types';

/** How long to wait for the next key before the server is asked, in ms. */
const DELAY = 200;

/** What a form amounts to, by the server; follows the form, and never goes back to nothing. */
export class CommandPreview implements IDisposable {
  /**
   * @param _spec - What the form amounts to at that moment.
   * @param _ask - Asks the server about it.
   */
  constructor(
    private readonly _spec: () => JobSpec,
    private readonly _ask: (
      spec: JobSpec,
      signal: AbortSignal
    ) => Promise<LaunchPreview>
  ) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The newest answer; an older one while the next is on its way. */
  get shown(): LaunchPreview | null {
    return this._shown;
  }

  /** Why what is shown may be behind the form. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** True if the preview that is shown belongs to the form as it is. */
  get isCurrent(): boolean {
    return !this._isBehind && this._failure === null;
  }

  /** The spec that the last answer, good or bad, is about. */
  get asked(): JobSpec | null {
    return this._asked;
  }

  /** Lines of the manifest, or else of the command, from 0, that the last edit changed. */
  get editedLines(): ReadonlySet<number> {
    return this._editedLines;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._cancel();
    Signal.clearData(this);
  }

  /** The form was changed: ask soon, once. */
  schedule(): void {
    this._cancel();
    this._isBehind = true;
    this._timer = window.setTimeout(() => void this.refresh(), DELAY);
  }

  /** Ask now; an older question is given up. */
  async refresh(): Promise<void> {
    this._cancel();
    const request = new AbortController();
    this._request = request;
    const spec = this._spec();
    try {
      const preview = await this._ask(spec, request.signal);
      if (!request.signal.aborted) {
        this.show(preview, spec);
      }
    } catch (error) {
      if (!request.signal.aborted) {
        this._asked = spec;
        this._failure = expectApiError(error);
        this._changed.emit();
      }
    }
  }

  /** Ask now, if what is shown is not of the form as it is. */
  async catchUp(): Promise<void> {
    if (this._isBehind) {
      await this.refresh();
    }
  }

  /** Show an answer that came by another way. */
  show(preview: LaunchPreview, spec: JobSpec): void {
    this._cancel();
    const [before, after] = [this._shown, preview].map(textOf);
    if (before !== null && after !== null && before !== after) {
      this._editedLines = changedLines(before, after);
    }
    this._shown = preview;
    this._isBehind = false;
    this._asked = spec;
    this._failure = null;
    this._changed.emit();
  }

  /** Forget what is shown: the form was filled anew. */
  reset(): void {
    this._cancel();
    this._shown = null;
    this._asked = null;
    this._failure = null;
    this._editedLines = new Set();
  }

  private _cancel(): void {
    window.clearTimeout(this._timer);
    this._request?.abort();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _shown: LaunchPreview | null = null;
  /** The form was changed since the last answer. */
  private _isBehind = true;
  private _asked: JobSpec | null = null;
  private _failure: ApiError | null = null;
  private _editedLines: ReadonlySet<number> = new Set();
  private _request: AbortController | null = null;
  private _timer = 0;
  private _isDisposed = false;
}

function textOf(preview: LaunchPreview | null): string | null {
  return preview && (preview.manifest ?? preview.command);
}

/** The lines of `after`, from 0, that `before` does not have. */
function changedLines(before: string, after: string): Set<number> {
  const old = new Map<string, number>();
  // The last line has no backslash; that alone is no change.
  const lines = (text: string) =>
    text.split('\n').map(line => line.replace(/\s*\\$/, ''));
  for (const line of lines(before)) {
    old.set(line, (old.get(line) ?? 0) + 1);
  }
  const changed = new Set<number>();
  lines(after).forEach((line, index) => {
    const left = old.get(line) ?? 0;
    if (left) {
      old.set(line, left - 1);
    } else {
      changed.add(index);
    }
  });
  return changed;
}
