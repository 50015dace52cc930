/** State of the tab of resources: the shown parts and range, and the newest samples. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { ApiError, expectApiError } from '../../api/errors';
import { LogMarker, ResourceView } from '../../api/types';
import { ResourcesClient } from './client';

/** Parts of the job that have curves. */
export type By = 'sum' | 'replica' | 'unit';
/** Shown range of time: the last hour, everything, or the last ten minutes. */
export type Span = 'hour' | 'all' | 'live';

const SECONDS: Record<Span, number> = { hour: 3600, all: 0, live: 600 };
/** Points of a curve. */
const POINTS = 240;
/** Pause before a request after an error, in ms. */
const RETRY = 5000;
/** Shortest time between two reads of the markers, in ms. */
const MARKERS_EVERY = 60_000;

/** Loads the use of resources while the tab is shown. The server holds each request until there are newer samples. */
export class ResourcesModel implements IDisposable {
  constructor(
    private readonly _api: ResourcesClient,
    private readonly _id: string,
    by: By
  ) {
    this._by = by;
  }

  /** Emitted when samples were loaded, or the choice has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The newest answer; null before the first one. */
  get view(): ResourceView | null {
    return this._view;
  }

  /** Lines of the log for the axis of time. */
  get markers(): readonly LogMarker[] {
    return this._markers;
  }

  /** Error of the last request; null if it succeeded. The samples that were loaded before are kept. */
  get failure(): ApiError | null {
    return this._failure;
  }

  get by(): By {
    return this._by;
  }

  get span(): Span {
    return this._span;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Show other parts or another range. */
  choose(choice: { by?: By; span?: Span }): void {
    this._by = choice.by ?? this._by;
    this._span = choice.span ?? this._span;
    this._changed.emit();
    this._restart();
  }

  /** Load samples while the tab is shown and the job can get newer ones; a hidden tab asks nothing. */
  setActive(isActive: boolean, canGrow: boolean): void {
    if (isActive === this._isActive && canGrow === this._canGrow) {
      return;
    }
    if (this._canGrow && !canGrow) {
      this._markersAt = -Infinity; // the error that ended the job has one
    }
    this._isActive = isActive;
    this._canGrow = canGrow;
    this._restart();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._stop();
      Signal.clearData(this);
    }
  }

  private _stop(): void {
    this._abort.abort();
    window.clearTimeout(this._timer);
  }

  private _restart(): void {
    this._stop();
    this._abort = new AbortController();
    if (this._isActive && !this._isDisposed) {
      void this._load(this._abort.signal, null);
      void this._loadMarkers(this._abort.signal);
    }
  }

  /** Load the samples; with a version, as soon as there are newer ones. */
  private async _load(
    signal: AbortSignal,
    version: string | null
  ): Promise<void> {
    const seconds = SECONDS[this._span];
    const last = this._view?.last ?? null;
    try {
      const view = await this._api.resources(
        this._id,
        {
          by: this._by,
          points: POINTS,
          ...(seconds > 0 && last !== null && { from: last - seconds }),
          ...(version !== null && { version })
        },
        signal
      );
      if (signal.aborted) {
        return;
      }
      const isFirst = this._view === null;
      this._view = view;
      this._failure = null;
      this._changed.emit();
      if (isFirst && seconds > 0) {
        void this._load(signal, null); // now the end of the samples is known
      } else if (this._canGrow) {
        void this._load(signal, view.version);
        void this._loadMarkers(signal);
      }
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      this._failure = expectApiError(error);
      this._changed.emit();
      this._timer = window.setTimeout(
        () => void this._load(signal, null),
        RETRY
      );
    }
  }

  private async _loadMarkers(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    if (now - this._markersAt < MARKERS_EVERY) {
      return;
    }
    this._markersAt = now;
    try {
      const { markers } = await this._api.logMarkers(this._id, signal);
      if (!signal.aborted) {
        this._markers = markers;
        this._changed.emit();
      }
    } catch (error) {
      if (!signal.aborted) {
        console.warn('t9kjob: markers of the log:', error);
      }
      this._markersAt = -Infinity;
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private _by: By;
  private _span: Span = 'all';
  private _view: ResourceView | null = null;
  private _markers: readonly LogMarker[] = [];
  private _failure: ApiError | null = null;
  private _isActive = false;
  private _canGrow = false;
  private _isDisposed = false;
  private _abort = new AbortController();
  private _timer = 0;
  private _markersAt = -Infinity;
}
