/** Capacity of the cluster in the sidebar. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Capacity, Pool } from '../../api/types';
import {
  amountOf,
  knowsNodes,
  leftOf,
  limitsOf,
  quotaLines,
  quotaOf,
  sharesOf
} from '../../cluster/model/capacity';
import {
  capacityTitle,
  heldText,
  labelled,
  poolTitle,
  quotaText,
  resourceLabel
} from '../../cluster/model/capacityText';
import { isGpu, poolNames } from '../../cluster/model/devices';
import { formatAmount, formatFree } from '../../common/format';
import { LinkButton } from '../../ui/Buttons';
import { CapacityRow } from './CapacityRow';

/** The maximum number of pools that have a row. */
const POOLS = 4;

interface IClusterCapacityProps {
  /** The capacity; null while it is counted. */
  capacity: Capacity | null;
  /** True until the cluster is found. */
  looking: boolean;
  /** Namespace whose quota is shown. */
  namespace: string;
  narrow: boolean;
  /** “as of 10:42” if the capacity may have changed since. */
  note: string | null;
  showNodes(): void;
  trans: TranslationBundle;
}

/**
 * The free capacity: accelerators, or CPU and memory without accelerators, or the quota if the nodes cannot be
 * read.
 */
export function ClusterCapacity(
  props: IClusterCapacityProps
): React.JSX.Element {
  const { capacity, looking, namespace, narrow, note, showNodes, trans } =
    props;
  return (
    <section
      className="jp-t9k-Capacity"
      aria-label={trans.__('Capacity of the cluster')}
    >
      <header>
        <button
          type="button"
          title={[
            ...(capacity ? capacityTitle(capacity, namespace, trans) : []),
            trans.__('Click to show the nodes.')
          ].join('\n')}
          onClick={showNodes}
        >
          <strong>{headOf(props)}</strong>
          <span className="jp-t9k-caption">
            {note ??
              (capacity === null
                ? looking
                  ? trans.__('detecting…')
                  : trans.__('counting…')
                : (captionOf(capacity, namespace, narrow, trans) ?? ''))}
          </span>
        </button>
      </header>
      {capacity === null ? (
        <>
          <div className="jp-t9k-Capacity-wait" />
          <div className="jp-t9k-Capacity-wait" />
        </>
      ) : !knowsNodes(capacity) ? (
        <Limits {...props} capacity={capacity} />
      ) : capacity.pools.length > 0 ? (
        <Pools {...props} pools={capacity.pools} />
      ) : (
        ['cpu', 'memory'].map(resource => (
          <Measured
            key={resource}
            resource={resource}
            {...{ capacity, narrow, trans }}
          />
        ))
      )}
      {capacity?.limited && (
        <p className="jp-t9k-caption" title={capacity.limited}>
          {capacity.limited}
        </p>
      )}
    </section>
  );
}

/** Rows of the accelerators, one for each kind. */
function Pools({
  pools,
  narrow,
  showNodes,
  trans
}: IClusterCapacityProps & { pools: readonly Pool[] }): React.JSX.Element {
  const names = poolNames(pools, narrow);
  const more = pools.length - POOLS;
  return (
    <>
      {pools.slice(0, POOLS).map((pool, index) => (
        <CapacityRow
          key={`${pool.resource} ${pool.product}`}
          name={names[index]}
          shares={sharesOf(pool.amount, pool.mine)}
          title={poolTitle(pool, trans).join('\n')}
          said={heldText(
            pool.resource,
            pool.amount.allocated,
            pool.mine,
            trans
          )}
        >
          <Free
            free={formatFree(pool.resource, pool.amount.free)}
            total={formatAmount(pool.resource, pool.amount.total)}
            {...{ narrow, trans }}
          />
        </CapacityRow>
      ))}
      {more > 0 && (
        <div className="jp-t9k-Capacity-more">
          <LinkButton title={names.slice(POOLS).join('\n')} onClick={showNodes}>
            {trans._n('%1 more kind', '%1 more kinds', more)}
          </LinkButton>
        </div>
      )}
    </>
  );
}

/** Row of the CPUs or of the memory of all nodes. */
function Measured({
  capacity,
  resource,
  narrow,
  trans
}: {
  capacity: Capacity;
  resource: string;
  narrow: boolean;
  trans: TranslationBundle;
}): React.JSX.Element | null {
  const amount = amountOf(capacity.amounts, resource);
  if (!amount) {
    return null;
  }
  const free = formatFree(resource, amount.free);
  const total = formatAmount(resource, amount.total);
  const mine = capacity.mine?.[resource] ?? 0;
  const most = capacity.most_on_a_node[resource] ?? 0;
  return (
    <CapacityRow
      name={resourceLabel(resource, trans)}
      shares={sharesOf(amount, mine)}
      title={[
        trans.__('%1 of %2 are free.', free, total),
        trans.__('Most on one node: %1.', formatFree(resource, most))
      ].join('\n')}
      said={heldText(resource, amount.allocated, mine, trans)}
    >
      {resource === 'memory' ? (
        <>
          <b>{free}</b> {!narrow && <span>{trans.__('free')}</span>}
        </>
      ) : (
        <Free {...{ free, total, narrow, trans }} />
      )}
    </CapacityRow>
  );
}

/** Rows of the quota and of the resources that the user's jobs hold, where the nodes cannot be read. */
function Limits({
  capacity,
  namespace,
  narrow,
  trans
}: IClusterCapacityProps & {
  capacity: Capacity;
}): React.JSX.Element {
  const lines = labelled(
    limitsOf(quotaLines(capacity, namespace) ?? []),
    trans
  );
  const { mine } = capacity;
  if (lines.length === 0) {
    return <Held mine={mine} trans={trans} />;
  }
  return (
    <>
      {lines.map(([label, resource, line]) => (
        <CapacityRow
          key={resource}
          name={label}
          shares={sharesOf(
            {
              total: line.hard,
              allocated: line.used ?? 0,
              free: leftOf(line)
            },
            // `mine` includes the user's jobs in other namespaces.
            Math.min(mine?.[resource] ?? 0, line.used ?? 0)
          )}
          title={quotaText(resource, line, namespace, trans)}
        >
          <b>{formatFree(resource, leftOf(line))}</b>{' '}
          <span>
            {narrow || resource === 'memory'
              ? trans.__('left')
              : trans.__('of %1 left', formatAmount(resource, line.hard))}
          </span>
        </CapacityRow>
      ))}
    </>
  );
}

/** Rows of the resources that the user's jobs hold, where no quota is known. */
function Held({
  mine,
  trans
}: {
  mine: Capacity['mine'];
  trans: TranslationBundle;
}): React.JSX.Element {
  const held = labelled(Object.entries(mine ?? {}), trans);
  return (
    <>
      {held.length === 0 && (
        <p className="jp-t9k-caption">
          {mine === null ? trans.__('not known') : trans.__('nothing')}
        </p>
      )}
      {held.map(([label, resource, amount]) => (
        <CapacityRow
          key={resource}
          name={label}
          shares={null}
          title={trans.__('Used by your jobs. The quota is not known.')}
        >
          <b>{formatAmount(resource, amount)}</b>{' '}
          <span>{trans.__('used')}</span>
        </CapacityRow>
      ))}
    </>
  );
}

/** The text “6 of 32 free”. */
function Free({
  free,
  total,
  narrow,
  trans
}: {
  free: string;
  total: string;
  narrow: boolean;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <>
      <b>{free}</b>{' '}
      <span>
        {narrow
          ? trans._p('total', 'of %1', total)
          : trans.__('of %1 free', total)}
      </span>
    </>
  );
}

/** Return the title of the section. */
function headOf({
  capacity,
  namespace,
  narrow,
  trans
}: IClusterCapacityProps): string {
  if (capacity && !knowsNodes(capacity)) {
    return limitsOf(quotaLines(capacity, namespace) ?? []).length > 0
      ? trans.__('Quota of %1', namespace)
      : trans.__('Used by your jobs');
  }
  if (capacity?.pools.some(({ resource }) => !isGpu(resource))) {
    return narrow
      ? trans.__('Accelerators')
      : trans.__('Accelerators in the cluster');
  }
  if (!capacity || capacity.pools.length === 0) {
    return trans.__('The cluster');
  }
  return narrow ? trans.__('GPUs') : trans.__('GPUs in the cluster');
}

/** Return the number of the user's accelerators and the quota of the first kind; null if there is nothing to show. */
function captionOf(
  capacity: Capacity,
  namespace: string,
  narrow: boolean,
  trans: TranslationBundle
): string | null {
  const [pool] = capacity.pools;
  if (!pool) {
    return null;
  }
  const { resource } = pool;
  const held = capacity.mine?.[resource] ?? 0;
  const quota = quotaOf(quotaLines(capacity, namespace) ?? [], resource);
  if (!quota || narrow) {
    return held > 0 ? trans.__('yours %1', formatAmount(resource, held)) : null;
  }
  const most = formatAmount(resource, quota.hard);
  if (quota.used === null) {
    return trans.__('%1: %2 allowed', namespace, most);
  }
  const used = formatAmount(resource, quota.used);
  // Other users of the namespace share its quota, and the user may have jobs in other namespaces.
  return quota.used === held
    ? trans.__('yours %1 of %2 allowed', used, most)
    : trans.__('%1: %2 of %3 allowed', namespace, used, most);
}
