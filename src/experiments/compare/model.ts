/** Model of a comparison: its runs, the other runs of their folder, and their curves. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { Curves } from '../charts/curves';
import { IKeptLook } from '../charts/kept';
import { ReadingLine } from '../charts/readingLine';
import { ExperimentsClient } from '../client';
import { folderOfRun } from '../model/folders';
import { RunStore } from '../model/runStore';
import { RunRow } from '../../api/types';
import { Goal } from '../types';
import { mainMetric, ordered } from './differences';

/** Runs whose curves are drawn one by one, and columns of the table. */
export const MOST_SHOWN = 8;
/** Runs whose folders are looked up before the list of runs is read. */
const MOST_LOOKUPS = 20;
/** Metrics that are asked for by name. */
const MOST_METRICS = 200;
/** Width of the first request for curves in px, before a chart is measured. */
const FIRST_WIDTH = 600;
/** Least time between two readings of curves of running runs, in ms. */
const REFRESH = 3000;

interface ICompareModelOptions {
  client: ExperimentsClient;
  ids: readonly string[];
  look: IKeptLook;
  /** Keeps the settings of the charts. */
  saveLook(look: IKeptLook): void;
}

/** Reads the runs of a comparison, and follows them while the page is visible. */
export class CompareModel implements IDisposable {
  constructor(private readonly _options: ICompareModelOptions) {
    const { client, look, ids } = _options;
    this._look = look;
    this.curves = new Curves(
      (request, signal) => client.curves(request, signal),
      { runs: ids, x: look.x, width: FIRST_WIDTH, range: null }
    );
    this.line.zoomed.connect(() => this.setWidth(this.curves.view.width));
    void this.load();
  }

  readonly curves: Curves;
  readonly line = new ReadingLine();

  get ids(): readonly string[] {
    return this._options.ids;
  }

  /** Emitted when runs, an error or a setting changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The compared runs that were found, in the order of the address; null before they are read. */
  get runs(): readonly RunRow[] | null {
    return this._runs;
  }

  /** Runs that the table and the charts show: at most eight, the best by the main metric. */
  get shown(): readonly RunRow[] {
    const runs = this._runs ?? [];
    return runs.length <= MOST_SHOWN
      ? runs
      : ordered(runs, this.metric, this.goalOf(this.metric ?? '')).slice(
          0,
          MOST_SHOWN
        );
  }

  /**
   * Runs that are drawn in grey: the other runs of the folder, or the compared runs that are not among the best
   * eight.
   */
  get others(): readonly RunRow[] {
    const runs = this._runs ?? [];
    const shown = new Set(this.shown);
    if (runs.length > MOST_SHOWN) {
      return runs.filter(run => !shown.has(run));
    }
    return this.candidates;
  }

  /** Runs of the folder that are not compared. */
  get candidates(): readonly RunRow[] {
    const ids = new Set(this.ids);
    return (this._store?.runs ?? []).filter(
      ({ id, archived }) => !ids.has(id) && !archived
    );
  }

  /** Metric by which runs are ordered; null without metrics. */
  get metric(): string | null {
    return mainMetric(this._runs ?? [], this.goalOf);
  }

  get failure(): ApiError | null {
    return this._failure;
  }

  get look(): IKeptLook {
    return this._look;
  }

  get isDisposed(): boolean {
    return this.curves.isDisposed;
  }

  /** Return the direction in which a metric improves: the user's choice, or the server's guess. */
  readonly goalOf = (metric: string): Goal =>
    this._choices.get(metric) ??
    this._store?.columns.find(
      ({ group, name }) => group === 'metrics' && name === metric
    )?.goal ??
    null;

  /** Turn the direction in which a metric improves. */
  turn(metric: string): void {
    this._choices.set(metric, this.goalOf(metric) === 'min' ? 'max' : 'min');
    this._changed.emit();
  }

  /** Return the number of the colour and dash of a run. */
  styleOf(run: Pick<RunRow, 'id'>): number {
    return Math.max(
      0,
      this.shown.findIndex(({ id }) => id === run.id)
    );
  }

  /** Read the runs, and all runs of the folder that they have in common. */
  async load(): Promise<void> {
    const { client } = this._options;
    try {
      const found = await Promise.all(
        this.ids.slice(0, MOST_LOOKUPS).map(id =>
          client.run(id).catch(error => {
            if (expectApiError(error).status === 404) {
              return null;
            }
            throw error;
          })
        )
      );
      if (this.isDisposed) {
        return;
      }
      const details = found.filter(detail => detail !== null);
      const folder =
        this.ids.length > MOST_LOOKUPS
          ? ''
          : commonFolder(details.map(({ run }) => folderOfRun(run.path)));
      const metrics = new Set(details.flatMap(detail => detail.metrics));
      this._runs = details.map(({ run }) => run);
      this._failure = null;
      this._store ??= this._follow(folder, [...metrics].slice(0, MOST_METRICS));
    } catch (error) {
      this._failure = expectApiError(error);
    }
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  setLook(look: IKeptLook): void {
    const isOtherAxis = look.x !== this._look.x;
    this._look = look;
    this._options.saveLook(look);
    if (isOtherAxis) {
      this.line.release();
      this.line.zoom(null);
    }
    this.setWidth(this.curves.view.width);
    this._changed.emit();
  }

  /** Load curves for charts of a width in px. */
  setWidth(width: number): void {
    if (width > 0) {
      // Runs start at different times, so a range of the time since the start is no range of the clock.
      const range = this._look.x === 'time' ? null : this.line.range;
      this.curves.setView({ runs: this.ids, x: this._look.x, width, range });
    }
  }

  /** Follow the runs while the page is visible. */
  setVisible(isVisible: boolean): void {
    this._isVisible = isVisible;
    if (this._store) {
      this._store.isActive = isVisible;
    }
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.curves.dispose();
      this._store?.dispose();
      window.clearTimeout(this._timer);
      Signal.clearData(this.line);
      Signal.clearData(this);
    }
  }

  private _follow(folder: string, metrics: string[]): RunStore {
    const store = new RunStore(this._options.client, {
      folder,
      metrics,
      curves: []
    });
    store.changed.connect(this._onStore, this);
    store.isActive = this._isVisible;
    return store;
  }

  private _onStore(store: RunStore): void {
    const byId = new Map(store.runs.map(run => [run.id, run]));
    const before = new Map((this._runs ?? []).map(run => [run.id, run]));
    this._runs = this.ids.flatMap(id => byId.get(id) ?? before.get(id) ?? []);
    if (!this._timer && this._runs.some(({ status }) => status === 'running')) {
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        this.curves.refresh();
      }, REFRESH);
    }
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _choices = new Map<string, Goal>();
  private _runs: readonly RunRow[] | null = null;
  private _store: RunStore | null = null;
  private _failure: ApiError | null = null;
  private _look: IKeptLook;
  private _isVisible = false;
  private _timer = 0;
}

/** Return the folder that has all folders. */
export function commonFolder(folders: readonly string[]): string {
  const [first = '', ...others] = folders;
  const parts = first.split('/').filter(Boolean);
  let length = parts.length;
  for (const other of others) {
    const theirs = other.split('/').filter(Boolean);
    let same = 0;
    while (same < length && theirs[same] === parts[same]) {
      same++;
    }
    length = same;
  }
  return parts.slice(0, length).join('/');
}
