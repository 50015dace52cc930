/** Texts about a cluster's capacity. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Capacity, Pool, QuotaLine } from '../../api/types';
import { amountOf, knowsNodes, leftOf, quotaLines } from './capacity';
import { isGpu, resourceName } from './devices';
import { formatAmount, formatCount, formatFree } from '../../common/format';

/** Return the label of a resource: “CPU”, “Memory”, “GPUs”. */
export function resourceLabel(
  resource: string,
  trans: TranslationBundle
): string {
  switch (resource) {
    case 'cpu':
      return trans.__('CPU');
    case 'memory':
      return trans.__('Memory');
  }
  return isGpu(resource) && resource.endsWith('/gpu')
    ? trans.__('GPUs')
    : resourceName(resource);
}

/**
 * Return the labels of resources. Accelerators are labelled with their manufacturers if there are several.
 */
export function resourceLabels(
  resources: readonly string[],
  trans: TranslationBundle
): string[] {
  const isDevice = (resource: string): boolean => resource.includes('/');
  const isOnly = resources.filter(isDevice).length < 2;
  return resources.map(resource =>
    isDevice(resource) && !isOnly
      ? resourceName(resource)
      : resourceLabel(resource, trans)
  );
}

/** Add the label of its resource to each item. See `resourceLabels`. */
export function labelled<Thing>(
  things: readonly (readonly [resource: string, thing: Thing])[],
  trans: TranslationBundle
): [label: string, resource: string, thing: Thing][] {
  const labels = resourceLabels(
    things.map(([resource]) => resource),
    trans
  );
  return things.map(([resource, thing], index) => [
    labels[index],
    resource,
    thing
  ]);
}

/** Return the tooltip of a cluster's capacity: sums of all nodes and quotas of a namespace, one per line. */
export function capacityTitle(
  capacity: Capacity,
  namespace: string,
  trans: TranslationBundle
): string[] {
  const { amounts, nodes, server, limited } = capacity;
  const lines = !knowsNodes(capacity)
    ? []
    : [
        trans._n(
          '%2 node at %3',
          '%2 nodes at %3',
          nodes,
          formatCount(nodes),
          server
        ),
        ...['cpu', 'memory'].flatMap(resource => {
          const amount = amountOf(amounts, resource);
          return amount
            ? trans.__(
                '%1: %2 of %3 free',
                resourceLabel(resource, trans),
                formatFree(resource, amount.free),
                formatAmount(resource, amount.total)
              )
            : [];
        })
      ];
  return [
    ...lines,
    ...(limited === null ? [] : [limited]),
    ...(quotaLines(capacity, namespace) ?? [])
      .filter(({ scoped }) => !scoped)
      .map(line => quotaText(line.resource, line, namespace, trans))
  ];
}

/** Return the tooltip of a pool, one fact per line. */
export function poolTitle(
  {
    resource,
    product,
    product_label,
    nodes,
    amount,
    most_on_a_node,
    mine
  }: Pool,
  trans: TranslationBundle
): string[] {
  const { total, allocated, free, unhealthy } = amount;
  const kind = product === null ? resource : `${product} (${resource})`;
  return [
    trans._n(
      '%2 on %3 node',
      '%2 on %3 nodes',
      nodes,
      kind,
      formatCount(nodes)
    ),
    trans.__(
      '%1 of %2 are free, at most %3 on one node.',
      formatCount(free),
      formatCount(total),
      most_on_a_node
    ),
    heldText(resource, allocated, mine, trans),
    ...(unhealthy > 0
      ? [trans._n('%1 is broken.', '%1 are broken.', unhealthy)]
      : []),
    ...outText(total - allocated - free - unhealthy, trans),
    ...(product_label === null ? [] : [`${product_label} = ${product}`])
  ];
}

/**
 * Return a text about the users of the allocated amount: “Your jobs hold 16, others 10.”
 *
 * @param resource - The resource.
 * @param allocated - The amount that is allocated to all pods.
 * @param mine - The part that is allocated to the user's own jobs.
 */
export function heldText(
  resource: string,
  allocated: number,
  mine: number,
  trans: TranslationBundle
): string {
  return trans.__(
    'Your jobs use %1, other jobs use %2.',
    formatAmount(resource, mine),
    formatAmount(resource, Math.max(0, allocated - mine))
  );
}

/** Return a sentence about unallocated devices on nodes that accept no pods. */
function outText(count: number, trans: TranslationBundle): string[] {
  return count > 0
    ? [
        trans._n(
          '%1 is on a node that accepts no pods.',
          '%1 are on nodes that accept no pods.',
          count
        )
      ]
    : [];
}

/** Return a text about a quota: “Quota gpus of demo: 24 of 32 nvidia.com/gpu used”. */
export function quotaText(
  resource: string,
  line: QuotaLine,
  namespace: string,
  trans: TranslationBundle
): string {
  const { quota, used, hard } = line;
  const limit = formatAmount(resource, hard);
  const name = resource.replace(/^(requests|limits)\./, '');
  const isLimit = resource.startsWith('limits.');
  if (used === null) {
    return isLimit
      ? trans.__(
          'Quota %1 of %2: at most %3 limits of %4',
          ...[quota, namespace, limit, name]
        )
      : trans.__(
          'Quota %1 of %2: at most %3 %4',
          ...[quota, namespace, limit, name]
        );
  }
  const taken = formatAmount(resource, used);
  return isLimit
    ? trans.__(
        'Quota %1 of %2: %3 of %4 limits of %5 used',
        ...[quota, namespace, taken, limit, name]
      )
    : trans.__(
        'Quota %1 of %2: %3 of %4 %5 used',
        ...[quota, namespace, taken, limit, name]
      );
}

/** Return a text about the rest of a quota: “You may use 8 more (quota of demo: 24 of 32 used)”. */
export function mayUseText(
  resource: string,
  line: QuotaLine,
  namespace: string,
  trans: TranslationBundle
): string {
  return trans.__(
    'You may use %1 more (quota of %2: %3 of %4 used)',
    formatFree(resource, leftOf(line)),
    namespace,
    formatAmount(resource, line.used ?? 0),
    formatAmount(resource, line.hard)
  );
}

/**
 * Return a text about the largest free amount on one node, “at most 62 free on one”; null if it is unknown.
 */
export function amountNote(
  resource: string,
  most: number | null,
  trans: TranslationBundle
): string | null {
  return most === null
    ? null
    : trans.__('at most %1 free on one', formatFree(resource, most));
}
