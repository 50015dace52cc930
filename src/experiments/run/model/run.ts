/** Model of a run's page: the run, its curves, and how they are shown. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../../api/errors';
import { Curves } from '../../charts/curves';
import { IKeptLook } from '../../charts/kept';
import { ReadingLine } from '../../charts/readingLine';
import { ExperimentsClient } from '../../client';
import { folderOfRun } from '../../model/folders';
import { RunStore } from '../../model/runStore';
import { RunDetail, RunMetric, RunRow } from '../../../api/types';
import { Goal, XAxis } from '../../types';
import { Positions, POSITIONS_WIDTH } from './positions';

/** The parts of a run's page. */
export const RUN_PANES = [
  'metrics',
  'parameters',
  'environment',
  'files',
  'flow'
] as const;
export type RunPane = (typeof RUN_PANES)[number];

/** Width of the first request for curves in px, before a chart is measured. */
const FIRST_WIDTH = 800;
/** Least time between two readings of a running run's curves, in ms. */
const REFRESH = 3000;
/** Metrics that the server takes by name. */
const MOST_METRICS = 200;

interface IRunModelOptions {
  client: ExperimentsClient;
  id: string;
  look: IKeptLook;
  /** Keeps the settings of the charts. */
  saveLook(look: IKeptLook): void;
}

/** Reads a run, and follows it while the page is visible. */
export class RunModel implements IDisposable {
  constructor(private readonly _options: IRunModelOptions) {
    const { client, id, look } = _options;
    this._look = look;
    this.curves = new Curves(
      (request, signal) => client.curves(request, signal),
      { runs: [id], x: look.x, width: FIRST_WIDTH, range: null }
    );
    this.line.zoomed.connect(this._onZoom, this);
    void this.load();
  }

  readonly curves: Curves;
  readonly line = new ReadingLine();

  get id(): string {
    return this._options.id;
  }

  get client(): ExperimentsClient {
    return this._options.client;
  }

  /** Emitted when the run, an error or a setting changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The run; null until it is read. */
  get detail(): RunDetail | null {
    return this._detail;
  }

  /** The run as the list of runs has it now. */
  get row(): RunRow | null {
    return this._row ?? this._detail?.run ?? null;
  }

  /** Names of all metrics. */
  get metrics(): readonly string[] {
    return this._detail?.metrics ?? [];
  }

  /** True if the run's folder was deleted or moved after the run was read. */
  get isGone(): boolean {
    return this._isGone;
  }

  /** Error that prevented reading the run; null if it was read. */
  get failure(): ApiError | null {
    return this._failure;
  }

  get pane(): RunPane {
    return this._pane;
  }

  get look(): IKeptLook {
    return this._look;
  }

  /** Start of the run, where the axis of time begins; in seconds since the epoch. */
  get origin(): number {
    return this._look.x === 'time' ? (this.row?.started_at ?? 0) : 0;
  }

  get isDisposed(): boolean {
    return this.curves.isDisposed;
  }

  /** Return the last and the best value of a metric; undefined if they are not known. */
  summary(metric: string): RunMetric | undefined {
    // Rows of the whole workspace lack rare metrics, which the run's own answer has.
    const found = [this._row, this._detail?.run].find(
      run => run && Object.hasOwn(run.metrics, metric)
    );
    return found?.metrics[metric];
  }

  /** Return the direction in which a metric improves. */
  goal(metric: string): Goal {
    return this._goals.get(metric) ?? null;
  }

  /** Read the run. */
  async load(): Promise<void> {
    try {
      this._detail = await this._options.client.run(this.id);
      this._failure = null;
    } catch (error) {
      this._failure = expectApiError(error);
    }
    if (!this.isDisposed) {
      this._follow();
      this._changed.emit();
    }
  }

  show(pane: RunPane): void {
    this._pane = pane;
    this._changed.emit();
  }

  setLook(look: IKeptLook): void {
    const isOtherAxis = look.x !== this._look.x;
    this._look = look;
    this._options.saveLook(look);
    if (isOtherAxis) {
      this.line.release();
      this.line.zoom(null);
    }
    this._setView(this.curves.view.width);
    this._changed.emit();
  }

  /** Load curves for charts of a width in px. */
  setWidth(width: number): void {
    if (width > 0 && width !== this.curves.view.width) {
      this._setView(width);
    }
  }

  /** Follow the run while its page is visible. */
  setVisible(isVisible: boolean): void {
    this._isVisible = isVisible;
    if (this._store) {
      this._store.isActive = isVisible;
    }
  }

  /** Replace what the lab keeps about the run. */
  async change(change: {
    tags?: string[];
    note?: string;
    archived?: boolean;
  }): Promise<void> {
    this._row = await this._options.client.change(this.id, change);
    this._changed.emit();
  }

  /** Return all runs of the folder that has the run's folder. */
  async siblings(): Promise<readonly RunRow[]> {
    const folder = folderOfRun(this.row?.path ?? null);
    return (await this.client.runs({ folder, revision: -1 })).runs;
  }

  /** Return the positions of the run's values on all axes. */
  positions(): Promise<Positions> {
    this._positions ??= this._readPositions();
    return this._positions;
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

  /**
   * Follow the run's folder. The run of a job without a recorder has no folder, so the whole workspace is followed,
   * without asking for this run's metrics of all runs.
   */
  private _follow(): void {
    const { _detail: detail } = this;
    if (this._store || !detail) {
      return;
    }
    const { path } = detail.run;
    this._store = new RunStore(this._options.client, {
      folder: path ?? '',
      metrics: path === null ? [] : detail.metrics.slice(0, MOST_METRICS),
      curves: []
    });
    this._store.changed.connect(this._onStore, this);
    this._store.isActive = this._isVisible;
  }

  /** Take the run's row, and read new values of the curves. */
  private _onStore(store: RunStore): void {
    for (const { group, name, goal } of store.columns) {
      if (group === 'metrics') {
        this._goals.set(name, goal);
      }
    }
    const row = store.runs.find(({ id }) => id === this.id);
    const isNews = this._row !== null && row !== undefined && row !== this._row;
    // The store keeps its runs after an error.
    this._isGone = store.failure
      ? store.failure.status === 404
      : !row && !store.isScanning;
    this._row = row ?? this._row;
    if (isNews && !this._timer) {
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        this._positions = null;
        this.curves.refresh();
        void this._options.client.run(this.id).then(
          detail => {
            this._detail = detail;
            this._changed.emit();
          },
          // The next change of the run reads it again.
          error => void expectApiError(error)
        );
      }, REFRESH);
    }
    this._changed.emit();
  }

  private _onZoom(): void {
    this._setView(this.curves.view.width);
  }

  private _setView(width: number): void {
    const { range } = this.line;
    const { origin } = this;
    this.curves.setView({
      runs: [this.id],
      x: this._look.x,
      width,
      range: range && [range[0] + origin, range[1] + origin]
    });
  }

  private async _readPositions(): Promise<Positions> {
    const metrics = this.row?.metrics ?? {};
    const longest = Object.keys(metrics).sort(
      (a, b) => metrics[b].count - metrics[a].count
    )[0];
    const read = async (x: XAxis) => {
      const request = { runs: [this.id], metrics: [longest], x };
      const width = POSITIONS_WIDTH;
      const answer = await this._options.client.curves({ ...request, width });
      return answer.curves[0];
    };
    if (longest === undefined) {
      return new Positions({
        step: undefined,
        epoch: undefined,
        time: undefined
      });
    }
    const [step, epoch, time] = await Promise.all([
      read('step'),
      read('epoch'),
      read('time')
    ]);
    return new Positions({ step, epoch, time });
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _goals = new Map<string, Goal>();
  private _detail: RunDetail | null = null;
  private _row: RunRow | null = null;
  private _failure: ApiError | null = null;
  private _store: RunStore | null = null;
  private _look: IKeptLook;
  private _pane: RunPane = 'metrics';
  private _positions: Promise<Positions> | null = null;
  private _isVisible = false;
  private _isGone = false;
  private _timer = 0;
}
