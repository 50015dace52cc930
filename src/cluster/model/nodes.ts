/** Model of the table of nodes: reads the nodes while the table is shown, and filters and sums them up. */
import { Poll } from '@lumino/polling';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { TranslationBundle } from '@jupyterlab/translation';
import { ApiError, expectApiError } from '../../api/errors';
import {
  Amount,
  Capacity,
  EngineInfo,
  NodeCapacity,
  NodeList
} from '../../api/types';
import { IJobsModel } from '../../tokens';
import { clusterEngine, isLooking } from '../../jobs/engines';
import { amountOf } from './capacity';
import { listed } from '../../common/format';

/** Interval between two reads of the nodes, in ms. Allocations can change without a notification. */
const INTERVAL = 10_000;
/**
 * Shortest time between two reads, in ms. A busy cluster sends notifications more often than a user can read
 * the table.
 */
const LEAST = 2000;

/** Selections of nodes by their state. */
export const NODE_KINDS = ['all', 'free', 'unusable'] as const;
/** One of `NODE_KINDS`: all nodes, nodes with free accelerators, or nodes with problems. */
export type NodeKind = (typeof NODE_KINDS)[number];

/** Settings of the table, which are kept over a reload. */
export interface INodesView {
  /** Words that a node's row must contain. */
  filter: string;
  kind: NodeKind;
  /** Key of the column by which the table is sorted. */
  sort: string;
  /** True to sort in descending order. */
  down: boolean;
}

/** Default settings. */
export const NODES_VIEW: INodesView = {
  filter: '',
  kind: 'all',
  sort: 'name',
  down: false
};

/** Snapshot of the state on which the nodes depend. */
interface ISeen extends Pick<IJobsModel, 'capacity' | 'engines'> {
  /** See `clusterKey`. */
  cluster: string | null;
}

/** Reads the nodes while the table is shown: at regular intervals and when the cluster's capacity changed. */
export class NodesModel implements IDisposable {
  constructor(
    private readonly _jobs: Pick<
      IJobsModel,
      'api' | 'engines' | 'capacity' | 'changed' | 'watchCapacity' | 'ready'
    >,
    view: Partial<INodesView> = {}
  ) {
    this._view = { ...NODES_VIEW, ...view };
    this._poll = new Poll({
      auto: false,
      name: 't9kjob:nodes',
      factory: () => this._read(),
      frequency: { interval: INTERVAL, backoff: false }
    });
    this._seen = this._look();
    _jobs.changed.connect(this._onJobs, this);
  }

  /** The nodes; null before the first answer. */
  get list(): NodeList | null {
    return this._list;
  }

  /** Error of the last read; null if it succeeded. */
  get failure(): ApiError | null {
    return this._failure;
  }

  /** All engines. */
  get engines(): readonly EngineInfo[] {
    return this._jobs.engines;
  }

  /** Capacity of the whole cluster; null while the server counts it. */
  get capacity(): Capacity | null {
    return this._jobs.capacity;
  }

  /** True if there is a cluster, null while the server searches for clusters. */
  get hasCluster(): boolean | null {
    return (
      clusterEngine(this.engines) !== null ||
      (isLooking(this.engines) ? null : false)
    );
  }

  /** Time at which the shown state of the nodes was current, in seconds; null before the first answer. */
  get asOf(): number | null {
    const stale = clusterEngine(this.engines)?.cluster?.stale_since;
    return stale ?? this._list?.time ?? null;
  }

  /** Settings of the table. */
  get view(): INodesView {
    return this._view;
  }

  set view(view: INodesView) {
    this._view = view;
    this._changed.emit();
  }

  /** Emitted when the nodes, the engines, the settings or the error changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  dispose(): void {
    this.setShown(false);
    this._poll.dispose();
    Signal.clearData(this);
  }

  /** Tell the model if the table is visible. */
  setShown(shown: boolean): void {
    if (shown === (this._watch !== null)) {
      return;
    }
    this._watch?.dispose();
    this._watch = shown ? this._jobs.watchCapacity() : null;
    if (shown) {
      void this.refresh();
    } else {
      this._endWait();
      void this._poll.stop();
    }
  }

  /** Read the nodes now if the table is visible. */
  async refresh(): Promise<void> {
    await this._jobs.ready;
    if (this._watch) {
      await this._poll.refresh();
    }
  }

  private _onJobs(): void {
    const before = this._seen;
    const { capacity, engines, cluster } = (this._seen = this._look());
    if (before.cluster !== cluster) {
      this._list = this._failure = null;
    }
    if (before.engines !== engines) {
      this._changed.emit();
    }
    if (
      this._watch &&
      (before.capacity !== capacity || before.cluster !== cluster)
    ) {
      this._readSoon();
    }
  }

  /** Return a snapshot of the state on which the nodes depend. */
  private _look(): ISeen {
    const { capacity, engines } = this._jobs;
    return { capacity, engines, cluster: clusterKey(engines) };
  }

  /** Read the nodes as soon as the shortest time since the last read has passed. */
  private _readSoon(): void {
    const wait = Math.max(0, this._readAt + LEAST - performance.now());
    this._timer ||= window.setTimeout(() => {
      this._timer = 0; // The poll ignores a refresh during another refresh, but not during a periodic read.
      void this._poll.refresh();
    }, wait);
  }

  /** Cancel the scheduled read. */
  private _endWait(): void {
    window.clearTimeout(this._timer);
    this._timer = 0;
  }

  private async _read(): Promise<void> {
    const engine = clusterEngine(this.engines);
    const cluster = clusterKey(this.engines);
    this._endWait();
    if (engine) {
      this._readAt = performance.now();
      const read = ++this._readsBegun;
      const answer = await this._jobs.api
        .nodes(engine.name)
        .catch(expectApiError);
      if (read < this._lastAnswered) {
        return; // A read that began later was answered earlier.
      }
      this._lastAnswered = read;
      if (clusterKey(this.engines) !== cluster) {
        if (this._watch) {
          this._readSoon();
        }
        return;
      }
      if (answer instanceof ApiError) {
        this._failure = answer;
      } else {
        this._list = answer.counting ? this._list : answer;
        this._failure = null;
      }
    }
    this._changed.emit();
  }

  private readonly _poll: Poll;
  private _view: INodesView;
  private _list: NodeList | null = null;
  private _failure: ApiError | null = null;
  /** Subscription to the cluster's capacity; null while the table is hidden. */
  private _watch: IDisposable | null = null;
  private _seen: ISeen;
  /** Timer of the scheduled read. */
  private _timer = 0;
  /** Time of the last read, by `performance.now()`. */
  private _readAt = -Infinity;
  private _readsBegun = 0;
  /** Number of the latest read that was answered. */
  private _lastAnswered = 0;
  private readonly _changed = new Signal<this, void>(this);
}

/**
 * Return a key of the cluster; null without a cluster. Clusters with the same address, such as a forwarded
 * port, differ by their contexts.
 */
function clusterKey(engines: readonly EngineInfo[]): string | null {
  const cluster = clusterEngine(engines)?.cluster;
  return cluster ? `${cluster.context} ${cluster.server}` : null;
}

/** Return the amounts of a node's accelerators. */
export function devicesOf(node: NodeCapacity): Amount[] {
  return node.amounts.filter(({ resource }) => resource.includes('/'));
}

/** Return a part of a node's accelerators, summed over all kinds. */
export function deviceSum(
  node: NodeCapacity,
  part: 'total' | 'unhealthy' | 'allocated' | 'free'
): number {
  return devicesOf(node).reduce((sum, amount) => sum + amount[part], 0);
}

/** Return the number of a node's accelerators that the user's own jobs hold. */
export function mineOf(node: NodeCapacity): number {
  return devicesOf(node).reduce(
    (sum, { resource }) => sum + (node.mine[resource] ?? 0),
    0
  );
}

/** Return true if a node accepts no pods or has broken accelerators. */
function isUnusable(node: NodeCapacity): boolean {
  return !node.ready || node.cordoned || deviceSum(node, 'unhealthy') > 0;
}

/** Return true if a node belongs to a selection. */
export function isOfKind(node: NodeCapacity, kind: NodeKind): boolean {
  switch (kind) {
    case 'all':
      return true;
    case 'free':
      return deviceSum(node, 'free') > 0;
    case 'unusable':
      return isUnusable(node);
  }
}

/** Return a node's status: “Ready”, “Not ready”, “Cordoned”. */
export function nodeStatus(
  node: NodeCapacity,
  trans: TranslationBundle
): string {
  const words = listed([
    node.ready ? null : trans.__('Not ready'),
    node.cordoned ? trans.__('Cordoned') : null
  ]);
  return words || trans.__('Ready');
}

/**
 * Return true if a node matches all words of the filter: by name, address, product, status, roles, taints or
 * accelerators.
 */
export function nodeMatches(
  node: NodeCapacity,
  filter: string,
  trans: TranslationBundle
): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return true;
  }
  const text = [
    node.name,
    node.address,
    node.product,
    nodeStatus(node, trans),
    ...node.roles,
    ...node.taints.flatMap(({ key, value, effect }) => [key, value, effect]),
    ...devicesOf(node).map(({ resource }) => resource)
  ]
    .join(' ')
    .toLowerCase();
  return words.every(word => text.includes(word));
}

/** Return the sum of a resource over some nodes; null if none of them has the resource. */
export function sumOf(
  nodes: readonly NodeCapacity[],
  resource: string
): Amount | null {
  const all = nodes.flatMap(node => amountOf(node.amounts, resource) ?? []);
  const sum = (part: 'total' | 'unhealthy' | 'allocated' | 'free'): number =>
    all.reduce((total, amount) => total + amount[part], 0);
  return all.length === 0
    ? null
    : {
        resource,
        total: sum('total'),
        unhealthy: sum('unhealthy'),
        allocated: sum('allocated'),
        free: sum('free')
      };
}
