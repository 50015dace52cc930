/** What a cluster has and what is free of it, as the server would tell of it. */
import {
  Amount,
  Capacity,
  NodeCapacity,
  Pool,
  QuotaLine
} from '../../src/api/types';

export const GIB = 2 ** 30;

export function someAmount(
  resource: string,
  total: number,
  allocated = 0,
  changes: Partial<Amount> = {}
): Amount {
  const free = total - allocated;
  return { resource, total, unhealthy: 0, allocated, free, ...changes };
}

/** The A100 of the pictures. */
export function somePool(changes: Partial<Pool> = {}): Pool {
  const resource = changes.resource ?? 'nvidia.com/gpu';
  return {
    resource,
    product: 'NVIDIA-A100-SXM4-80GB',
    product_label: 'nvidia.com/gpu.product',
    nodes: 4,
    amount: someAmount(resource, 32, 26),
    most_on_a_node: 2,
    largest_node: 8,
    most_beside: { cpu: 60, memory: 512 * GIB },
    mine: 16,
    ...changes
  };
}

export function someQuota(changes: Partial<QuotaLine> = {}): QuotaLine {
  return {
    quota: 'gpus',
    resource: 'requests.nvidia.com/gpu',
    used: 24,
    hard: 32,
    scoped: false,
    ...changes
  };
}

/** The cluster of the pictures: A100 and H100, 24 of which are one's own. */
export function someCapacity(changes: Partial<Capacity> = {}): Capacity {
  return {
    time: Date.now() / 1000,
    server: 'kube.example',
    nodes: 6,
    amounts: [
      someAmount('cpu', 384, 128),
      someAmount('memory', 4096 * GIB, 1024 * GIB)
    ],
    most_on_a_node: { cpu: 62, memory: 900 * GIB },
    pools: [
      somePool(),
      somePool({
        product: 'NVIDIA-H100-80GB-HBM3',
        nodes: 2,
        amount: someAmount('nvidia.com/gpu', 16, 8),
        most_on_a_node: 8,
        mine: 8
      })
    ],
    mine: { 'nvidia.com/gpu': 24, cpu: 32, memory: 256 * GIB },
    quotas: [{ namespace: 'demo', lines: [someQuota()], limited: null }],
    counting: false,
    limited: null,
    ...changes
  };
}

/** A node with eight A100, two of which are free. */
export function someNode(
  name: string,
  changes: Partial<NodeCapacity> = {}
): NodeCapacity {
  return {
    name,
    address: '10.0.0.7',
    roles: [],
    ready: true,
    cordoned: false,
    taints: [],
    product: 'NVIDIA-A100-SXM4-80GB',
    product_label: 'nvidia.com/gpu.product',
    pods: 12,
    amounts: [
      someAmount('cpu', 64, 32),
      someAmount('memory', 512 * GIB, 256 * GIB),
      someAmount('nvidia.com/gpu', 8, 6)
    ],
    mine: { 'nvidia.com/gpu': 4 },
    ...changes
  };
}

/** jsdom lays nothing out: let everything be seen, or nothing. */
export class Shown {
  constructor() {
    const observers = (this._observers = new Set<() => void>());
    const isShown = (): boolean => this._shown;
    window.IntersectionObserver = class {
      constructor(private readonly _call: IntersectionObserverCallback) {}
      observe(): void {
        observers.add(this._tell);
        this._tell();
      }
      disconnect(): void {
        observers.delete(this._tell);
      }
      private _tell = (): void => {
        const entry = { isIntersecting: isShown() };
        this._call(
          [entry as IntersectionObserverEntry],
          this as unknown as IntersectionObserver
        );
      };
    } as unknown as typeof IntersectionObserver;
  }

  set(shown: boolean): void {
    this._shown = shown;
    this._observers.forEach(tell => tell());
  }

  private _shown = true;
  private readonly _observers: Set<() => void>;
}
