/** The nodes of a cluster as a table has them: read while it is shown, filtered, sorted and summed up. */
import { Poll } from '@lumino/polling';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { TranslationBundle } from '@jupyterlab/translation';
import { ApiError, expectApiError } from '../../api/client';
import {
  Amount,
  Capacity,
  EngineInfo,
  NodeCapacity,
  NodeList
} from '../../api/types';
import { IJobsModel } from '../../tokens';
import { amountOf, clusterEngine, isLooking } from './capacity';

/** What was allocated may change without a word; in ms. */
const INTERVAL = 10_000;
/** Pushes of a busy cluster come more often than a table can be read; in ms. */
const LEAST = 2000;

/** Which nodes are shown. */
export const NODE_KINDS = ['all', 'free', 'unusable'] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

/** How the table is set up; kept over a reload. */
export interface INodesView {
  filter: string;
  kind: NodeKind;
  /** The column by which the table is sorted. */
  sort: string;
  down: boolean;
}

export const NODES_VIEW: INodesView = {
  filter: '',
  kind: 'all',
  sort: 'name',
  down: false
};

/** What of the jobs decides what is shown, and when it is read again. */
interface ISeen extends Pick<IJobsModel, 'capacity' | 'engines'> {
  cluster: string | null;
}

/** Reads the nodes while they are shown: when the cluster's capacity changed, and now and then. */
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

  /** Null before the first answer. */
  get list(): NodeList | null {
    return this._list;
  }

  /** Why the nodes could not be read last. */
  get failure(): ApiError | null {
    return this._failure;
  }

  get engines(): readonly EngineInfo[] {
    return this._jobs.engines;
  }

  /** Of the whole cluster; null while it is counted. */
  get capacity(): Capacity | null {
    return this._jobs.capacity;
  }

  /** Whether there is a cluster at all; null while it is being looked for. */
  get hasCluster(): boolean | null {
    return (
      clusterEngine(this.engines) !== null ||
      (isLooking(this.engines) ? null : false)
    );
  }

  /** When the nodes were as they are shown, in seconds; null before the first answer. */
  get asOf(): number | null {
    const stale = clusterEngine(this.engines)?.cluster?.stale_since;
    return stale ?? this._list?.time ?? null;
  }

  get view(): INodesView {
    return this._view;
  }

  set view(view: INodesView) {
    this._view = view;
    this._changed.emit();
  }

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

  /** The table is seen, or no longer. */
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

  /** Read the nodes now, if they are shown. */
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

  private _look(): ISeen {
    const { capacity, engines } = this._jobs;
    return { capacity, engines, cluster: clusterKey(engines) };
  }

  /** Ask for the nodes as soon as those that are shown could be read. */
  private _readSoon(): void {
    const wait = Math.max(0, this._readAt + LEAST - performance.now());
    this._timer ||= window.setTimeout(() => {
      this._timer = 0; // the poll refuses while a refresh is awaited, not during a periodic read
      void this._poll.refresh();
    }, wait);
  }

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
        return; // one that began later was answered before
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
  private _watch: IDisposable | null = null;
  private _seen: ISeen;
  private _timer = 0;
  private _readAt = -Infinity;
  private _readsBegun = 0;
  private _lastAnswered = 0;
  private readonly _changed = new Signal<this, void>(this);
}

/** Tells clusters apart: those at one address, such as a forwarded port, by their contexts; null without one. */
function clusterKey(engines: readonly EngineInfo[]): string | null {
  const cluster = clusterEngine(engines)?.cluster;
  return cluster ? `${cluster.context} ${cluster.server}` : null;
}

/** The accelerators of a node. */
export function devicesOf(node: NodeCapacity): Amount[] {
  return node.amounts.filter(({ resource }) => resource.includes('/'));
}

/** What of a node's accelerators there is, all kinds together. */
export function deviceSum(
  node: NodeCapacity,
  part: 'total' | 'unhealthy' | 'allocated' | 'free'
): number {
  return devicesOf(node).reduce((sum, amount) => sum + amount[part], 0);
}

/** What of a node's accelerators one's own jobs hold. */
export function mineOf(node: NodeCapacity): number {
  return devicesOf(node).reduce(
    (sum, { resource }) => sum + (node.mine[resource] ?? 0),
    0
  );
}

/** Whether pods can't be placed on a node, or not on all that it has. */
function isUnusable(node: NodeCapacity): boolean {
  return !node.ready || node.cordoned || deviceSum(node, 'unhealthy') > 0;
}

/** Whether a node is of the kind that is shown. */
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

/** Whether a node takes pods, in words. */
export function nodeStatus(
  node: NodeCapacity,
  trans: TranslationBundle
): string {
  const words = [
    node.ready ? null : trans.__('Not ready'),
    node.cordoned ? trans.__('Cordoned') : null
  ].filter(Boolean);
  return words.join(', ') || trans.__('Ready');
}

/** Whether all words of the filter are in what is said of a node. */
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

/** All of a resource of some nodes together; null where none has it. */
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
