/** Capacity of a cluster: quotas, shares of a bar, and the pools that fit a form. */
import {
  Amount,
  Capacity,
  EngineInfo,
  JobSummary,
  Pool,
  QuotaLine
} from '../../api/types';
import { usualLocation } from './locations';
import { clusterEngine, isOnMachine } from '../../jobs/engines';
import { isActive } from '../../jobs/phase';

/** Shares of an amount, 0 to 1. The remaining share is free. */
export interface IShares {
  mine: number;
  others: number;
  /** Unusable: broken, or on a node that accepts no pods. */
  out: number;
}

/**
 * Return the shares of an amount: the user's own, others', and unusable.
 *
 * @param amount - The amount.
 * @param mine - The part that is allocated to the user's own jobs.
 */
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

/**
 * Return true if the cluster's nodes are known. Otherwise only the quotas and the usage of the user's own
 * jobs are known.
 */
export function knowsNodes({ nodes, limited }: Capacity): boolean {
  return nodes > 0 || limited === null;
}

/** Return the amount of a resource; null if it is not known. */
export function amountOf(
  amounts: readonly Amount[],
  resource: string
): Amount | null {
  return amounts.find(amount => amount.resource === resource) ?? null;
}

/**
 * Return the tightest quota of a resource. Quotas with scopes are left out, because they don't count all
 * pods.
 *
 * @param lines - Quotas of the namespace.
 * @param resource - The resource, without the prefix `requests.`.
 * @returns Null if there is no such quota.
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

/** Return how much of a quota is left. */
export function leftOf({ hard, used }: QuotaLine): number {
  return Math.max(0, hard - (used ?? 0));
}

/** Return the quotas of a namespace; null if they are not known. */
export function quotaLines(
  capacity: Capacity,
  namespace: string
): QuotaLine[] | null {
  const found = capacity.quotas.find(each => each.namespace === namespace);
  return found?.lines ?? null;
}

/** Maximum number of quotas that are shown if the nodes are not known. */
const LIMITS = 4;

/** Names of quotas that count objects or limit the volumes of a storage class. */
const NO_DEVICE = /^count\/|\.storageclass\.storage\.k8s\.io\//;

/**
 * Return the tightest quota of each resource that a job requests: accelerators first, then CPU and memory.
 *
 * @param lines - Quotas of a namespace.
 * @param chosen - Accelerators to return before all others.
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

/**
 * Return the pools of a resource.
 *
 * @param pools - All pools.
 * @param resource - The resource.
 * @param labels - Labels that nodes must have. If they contain the label of a product, other products' pools
 * are left out.
 */
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

/** Return true if a namespace has quotas and the cluster's nodes are not known. */
function isRationed(capacity: Capacity | null, namespace: string): boolean {
  return (
    capacity !== null &&
    !knowsNodes(capacity) &&
    limitsOf(quotaLines(capacity, namespace) ?? []).length > 0
  );
}

/** Section of the capacity in the sidebar. */
export type CapacitySection = 'machine' | 'cluster';

/**
 * Return the sections of the capacity in the sidebar: first the usual location of jobs, then the other
 * location if it matters.
 *
 * A machine in addition to a cluster matters if it has devices or runs a job of the user. A cluster in
 * addition to a machine matters if it has pools or quotas, or runs a job of the user.
 *
 * @param engines - All engines.
 * @param jobs - All jobs in the list.
 * @param capacity - The cluster's capacity; null while it is unknown.
 */
export function capacitySections(
  engines: readonly EngineInfo[],
  jobs: readonly Pick<JobSummary, 'engine' | 'phase' | 'mine'>[],
  capacity: Capacity | null
): CapacitySection[] {
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
  if (isOnMachine(engines, usualLocation(engines, null).engine)) {
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
