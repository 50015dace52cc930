/** Live preview of a launch form: the command or manifest and the checks that the server returns for it. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { JobSpec, LaunchPreview } from '../../api/types';

/** Delay between the last edit and the request of a preview, in ms. */
const DELAY = 200;

/**
 * Keeps the preview of a form current.
 *
 * The last preview stays visible until the next one arrives.
 */
export class CommandPreview implements IDisposable {
  /**
   * @param _spec - Returns the current spec of the form.
   * @param _ask - Requests the preview of a spec from the server.
   */
  constructor(
    private readonly _spec: () => JobSpec,
    private readonly _ask: (
      spec: JobSpec,
      signal: AbortSignal
    ) => Promise<LaunchPreview>
  ) {}

  /** Emitted when the preview or its failure changes. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The last preview; it may be older than the form while a request runs. */
  get shown(): LaunchPreview | null {
    return this._shown;
  }

  /** The error of the last request, because of which the preview may be older than the form; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** True if the preview belongs to the current content of the form. */
  get isCurrent(): boolean {
    return !this._isBehind && this._failure === null;
  }

  /** The spec of the last answered request, including a request that failed. */
  get asked(): JobSpec | null {
    return this._asked;
  }

  /** The spec that the shown preview describes. */
  get described(): JobSpec | null {
    return this._described;
  }

  /** Line numbers, from 0, that the last edit changed in the manifest, or in the command if there is no manifest. */
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

  /** Request a preview after a short delay; further calls within the delay restart it. */
  schedule(): void {
    this._cancel();
    this._isBehind = true;
    this._timer = window.setTimeout(() => void this.refresh(), DELAY);
  }

  /** Request a preview now and cancel older requests. */
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

  /** Request a preview now if the form has changed since the last one. */
  async catchUp(): Promise<void> {
    if (this._isBehind) {
      await this.refresh();
    }
  }

  /**
   * Show a preview that came with another response, such as the one of a dry run.
   *
   * @param spec - The spec that the preview describes.
   */
  show(preview: LaunchPreview, spec: JobSpec): void {
    this._cancel();
    const [before, after] = [this._shown, preview].map(textOf);
    if (before !== null && after !== null && before !== after) {
      this._editedLines = changedLines(before, after);
    }
    this._shown = preview;
    this._isBehind = false;
    this._asked = this._described = spec;
    this._failure = null;
    this._changed.emit();
  }

  /** Remove the preview, because the form has a new content. */
  reset(): void {
    this._cancel();
    this._shown = null;
    this._asked = this._described = null;
    this._failure = null;
    this._editedLines = new Set();
  }

  /** Cancel the delay and the running request. */
  private _cancel(): void {
    window.clearTimeout(this._timer);
    this._request?.abort();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _shown: LaunchPreview | null = null;
  /** True if the form has changed since the last preview. */
  private _isBehind = true;
  private _asked: JobSpec | null = null;
  private _described: JobSpec | null = null;
  private _failure: ApiError | null = null;
  private _editedLines: ReadonlySet<number> = new Set();
  private _request: AbortController | null = null;
  private _timer = 0;
  private _isDisposed = false;
}

/** Return the text of a preview: its manifest, or its command if there is no manifest. */
function textOf(preview: LaunchPreview | null): string | null {
  return preview && (preview.manifest ?? preview.command);
}

/** Return the numbers, from 0, of the lines of `after` that `before` does not contain. */
function changedLines(before: string, after: string): Set<number> {
  const old = new Map<string, number>();
  // Ignore a backslash at the end of a line: the last line of a command has none, and gets one when a line is appended.
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
