/** What is free of a cluster: limits, shares of a bar, and what of it a form means. */
import {
  Amount,
  Capacity,
  EngineInfo,
  JobSummary,
  Pool,
  QuotaLine
} from '../../api/types';
import { usualPlace } from './places';
import { isOnMachine } from '../../jobs/engines';
import { isActive } from '../../jobs/phase';

/** Shares of a whole, 0 to 1; what is left is free. */
export interface IShares {
  mine: number;
  others: number;
  /** Nobody has it, and nobody can: broken, or of a node that takes no pods. */
  out: number;
}

/** Who has what of an amount. */
export function sharesOf(
  { total, allocated, free }: Pick<Amount, 'total' | 'allocated' | 'free'>,
  mine: number
): IShares {
  if (total <= 0) {
    return { mine: 0, others: 0, out: 0 };
  }
  const part = (amount: number, most: number): number =>
    Math.min(most, Math.max(0, amount / total));
  const own = part(mine, 1);
  const others = part(allocated - mine, 1 - own);
  return {
    mine: own,
    others,
    out: part(total - allocated - free, 1 - own - others)
  };
}

/** Whether the nodes are known; else there are only quotas and what one's own jobs hold. */
export function knowsNodes({ nodes, limited }: Capacity): boolean {
  return nodes > 0 || limited === null;
}

/** A resource of an amount list; null where nothing is known of it. */
export function amountOf(
  amounts: readonly Amount[],
  resource: string
): Amount | null {
  return amounts.find(amount => amount.resource === resource) ?? null;
}

/**
 * The limit of a namespace that leaves the least of a resource; null if there is none that counts every pod.
 *
 * @param lines - The limits of that namespace.
 */
export function quotaOf(
  lines: readonly QuotaLine[],
  resource: string
): QuotaLine | null {
  const names = [resource, `requests.${resource}`];
  const [tightest] = lines
    .filter(line => names.includes(line.resource) && !line.scoped)
    .sort((a, b) => leftOf(a) - leftOf(b));
  return tightest ?? null;
}

/** How much a limit leaves. */
export function leftOf({ hard, used }: QuotaLine): number {
  return Math.max(0, hard - (used ?? 0));
}

/** The limits of a namespace; null if they are not known. */
export function quotaLines(
  capacity: Capacity,
  namespace: string
): QuotaLine[] | null {
  const found = capacity.quotas.find(each => each.namespace === namespace);
  return found?.lines ?? null;
}

/** Limits that are shown where nothing else is known. */
const LIMITS = 4;

/** Limits of how many objects there may be, and of the volumes of a storage class. */
const NO_DEVICE = /^count\/|\.storageclass\.storage\.k8s\.io\//;

/**
 * The tightest limit of each resource that a job asks for: accelerators first, then CPU and memory.
 *
 * @param lines - The limits of a namespace.
 * @param chosen - The accelerators that come before all others.
 */
export function limitsOf(
  lines: readonly QuotaLine[],
  chosen: string[] = []
): [resource: string, line: QuotaLine][] {
  const devices = lines
    .map(({ resource }) => resource.replace(/^requests\./, ''))
    .filter(resource => resource.includes('/') && !NO_DEVICE.test(resource));
  return [...new Set([...chosen, ...devices, 'cpu', 'memory'])]
    .flatMap((resource): [string, QuotaLine][] => {
      const line = quotaOf(lines, resource);
      return line ? [[resource, line]] : [];
    })
    .slice(0, LIMITS);
}

/** Pools that a job could be placed in that asks for a resource on nodes with some labels. */
export function poolsFor(
  pools: readonly Pool[],
  resource: string,
  labels: Readonly<Record<string, string>>
): Pool[] {
  const products = pools.flatMap(({ product_label: label }) =>
    label !== null && label in labels ? labels[label] : []
  );
  return pools.filter(
    pool =>
      pool.resource === resource &&
      (products.length === 0 || products.includes(pool.product ?? ''))
  );
}

/** The engine of the cluster whose capacity is shown; null without a cluster. */
export function clusterEngine(
  engines: readonly EngineInfo[]
): EngineInfo | null {
  const clusters = engines.filter(({ cluster }) => cluster !== null);
  return clusters.find(({ available }) => available) ?? clusters[0] ?? null;
}

/** Whether it is still being found out which clusters there are. */
export function isLooking(engines: readonly EngineInfo[]): boolean {
  return engines.length === 0 || engines.some(({ looking }) => looking);
}

/** Whether no more is known of a cluster than what a namespace may have of it. */
function isRationed(capacity: Capacity | null, namespace: string): boolean {
  return (
    capacity !== null &&
    !knowsNodes(capacity) &&
    limitsOf(quotaLines(capacity, namespace) ?? []).length > 0
  );
}

/** What has capacity to show. */
export type CapacityPlace = 'machine' | 'cluster';

/**
 * Whose capacity is worth its room in the sidebar: first of where jobs usually go, then of what else matters.
 *
 * A machine beside a cluster matters if it has devices or one's jobs run on it; a cluster beside a machine if it has.
 *
 * @param capacity - Null while it is not known.
 */
export function capacityPlaces(
  engines: readonly EngineInfo[],
  jobs: readonly Pick<JobSummary, 'engine' | 'phase' | 'mine'>[],
  capacity: Capacity | null
): CapacityPlace[] {
  const machine = engines.find(engine => engine.machine)?.machine ?? null;
  const engine = clusterEngine(engines);
  const hasCluster =
    engine?.available === true || engines.some(({ looking }) => looking);
  if (machine === null || !hasCluster) {
    return machine ? ['machine'] : hasCluster ? ['cluster'] : [];
  }
  const runsOn = (local: boolean): boolean =>
    jobs.some(
      job =>
        job.mine && isActive(job) && isOnMachine(engines, job.engine) === local
    );
  if (isOnMachine(engines, usualPlace(engines, null).engine)) {
    return capacity?.pools.length ||
      isRationed(capacity, engine?.default_namespace ?? '') ||
      runsOn(false)
      ? ['machine', 'cluster']
      : ['machine'];
  }
  return machine.devices.length || runsOn(true)
    ? ['cluster', 'machine']
    : ['cluster'];
}
