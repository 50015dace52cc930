/** Model of the tries of a launch form: starts one, follows it and stops it. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { PreviewRequest, Try } from '../../api/types';
import { TryClient } from './client';

/** Delay before a failed request is repeated, in ms. */
const RETRY = 2000;
/** Number of requests that may fail in a row, after which the try is given up. */
const MOST_FAILURES = 5;

/** Size and length of a try. */
export interface ITrySettings {
  processes: number;
  /** Steps after which it ends; null to end by time. */
  steps: number | null;
  seconds: number;
}

/** Why a job was not submitted although its try has ended. */
export type NotSubmitted = 'notPassed' | 'changed' | 'errors';

/** The tries of a form, of which the last one is shown. */
export class TryModel implements IDisposable {
  constructor(private readonly _client: TryClient) {}

  /** The last try; null before the first answer. */
  get view(): Try | null {
    return this._view;
  }

  /** Error of the last request; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** Size and length of the next try. */
  get settings(): Readonly<ITrySettings> {
    return this._settings;
  }

  /** True while a try is being started or runs. */
  get isActive(): boolean {
    return this._isStarting || this._view?.state === 'running';
  }

  /** The form that the last try was made of, as a text. */
  get tried(): string | null {
    return this._tried;
  }

  /** True if the job is submitted as soon as the next or running try has passed. */
  get submitsWhenPassed(): boolean {
    return this._submitsWhenPassed;
  }

  /** Why the job was not submitted after the last try; null if that was not wanted, or if the job was submitted. */
  get notSubmitted(): NotSubmitted | null {
    return this._notSubmitted;
  }

  /** Time at which the last answer arrived, in ms. */
  get answeredAt(): number {
    return this._answeredAt;
  }

  /** Emitted after every change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted when a try has ended after which the job is to be submitted. */
  get submitWanted(): ISignal<this, void> {
    return this._submitWanted;
  }

  get isDisposed(): boolean {
    return this._abort.signal.aborted;
  }

  /** Change the size or length of the next try. */
  set(changes: Partial<ITrySettings>): void {
    this._settings = { ...this._settings, ...changes };
    this._changed.emit();
  }

  /** Submit the job as soon as the next or running try has passed, or leave that to the user. */
  setSubmitsWhenPassed(wanted: boolean): void {
    this._submitsWhenPassed = wanted;
    this._changed.emit();
  }

  /** Say why the job was not submitted after the try. */
  refuseToSubmit(why: NotSubmitted): void {
    this._notSubmitted = why;
    this._changed.emit();
  }

  /**
   * Start a try and follow it to its end. A second call while a try is active does nothing.
   *
   * @param request - The form.
   * @param isReady - Prepares the try, for example saves the file. Nothing is started if it returns false.
   */
  async start(
    request: () => PreviewRequest,
    isReady: () => Promise<boolean>
  ): Promise<void> {
    if (this.isActive) {
      return;
    }
    this._isStarting = true;
    this._failure = null;
    this._notSubmitted = null;
    this._changed.emit();
    let isTried = true;
    try {
      isTried = await isReady();
      if (isTried) {
        const form = request();
        this._show(await this._client.start({ ...form, ...this._settings }));
        this._tried = JSON.stringify(form);
      }
    } catch (error) {
      this._view = null;
      this._failure = expectApiError(error);
    } finally {
      this._isStarting = false;
    }
    if (this.isDisposed) {
      void this.stop(); // the form was closed during the request
      return;
    }
    this._changed.emit();
    if (!isTried) {
      return; // the user may try again, so the job is still submitted after the next try
    }
    await this._follow();
    if (this._submitsWhenPassed && !this.isDisposed) {
      this._submitsWhenPassed = false; // it counts for one try
      this._submitWanted.emit();
      this._changed.emit();
    }
  }

  /** Stop the running try. */
  async stop(): Promise<void> {
    const view = this._view;
    if (view?.state === 'running') {
      try {
        await this._client.stop(view.id);
      } catch (error) {
        this._failure = expectApiError(error);
        this._changed.emit();
      }
    }
  }

  /** Stop the running try, because the form is closed. */
  dispose(): void {
    if (!this.isDisposed) {
      void this.stop();
      this._abort.abort();
      Signal.clearData(this);
    }
  }

  private async _follow(): Promise<void> {
    let failures = 0;
    while (this._view?.state === 'running' && !this.isDisposed) {
      const { id, revision } = this._view;
      try {
        this._show(await this._client.next(id, revision, this._abort.signal));
        this._failure = null;
        failures = 0;
      } catch (error) {
        if (this.isDisposed) {
          return;
        }
        this._failure = expectApiError(error);
        if (this._failure.status === 404 || ++failures === MOST_FAILURES) {
          this._view = null; // the server was started anew, or is gone
          this._changed.emit();
          return;
        }
        this._changed.emit();
        await new Promise(resolve => window.setTimeout(resolve, RETRY));
      }
    }
  }

  private _show(view: Try): void {
    this._view = view;
    this._answeredAt = Date.now();
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _submitWanted = new Signal<this, void>(this);
  private readonly _abort = new AbortController();
  private _view: Try | null = null;
  private _failure: ApiError | null = null;
  private _settings: ITrySettings = { processes: 2, steps: 20, seconds: 60 };
  private _isStarting = false;
  private _submitsWhenPassed = false;
  private _notSubmitted: NotSubmitted | null = null;
  private _tried: string | null = null;
  private _answeredAt = 0;
}
