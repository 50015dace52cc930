/** Table of the accelerators that are free in the cluster, shown beside the form's size. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Pool, QuotaLine } from '../../../api/types';
import {
  knowsNodes,
  leftOf,
  limitsOf,
  poolsFor,
  quotaOf
} from '../../../cluster/model/capacity';
import {
  labelled,
  mayUseText,
  poolTitle,
  quotaText
} from '../../../cluster/model/capacityText';
import { poolNames } from '../../../cluster/model/devices';
import { formatAmount, formatFree } from '../../../common/format';
import { useLaunch, useModel } from '../../parts/context';

/** Number of pools with a row. The pools that the form requests always have a row. */
const POOLS = 6;

/** Free accelerators and the namespace's quota for them; hidden if neither is known. */
export function FreeNow(): React.JSX.Element | null {
  const { trans, prefix } = useLaunch();
  const known = useModel(({ capacity }) => capacity.known);
  const limits = useModel(({ capacity }) => capacity.limits);
  const namespace = useModel(({ state }) => state.namespace);
  const wanted = useModel(({ form }) => {
    const { device } = form.spec.replica_specs[0].resources;
    return device?.count ? device.name : null;
  });
  const labels = useModel(({ nodeLabels }) => nodeLabels);
  if (!known) {
    return null;
  }
  const chosen = wanted ? poolsFor(known.pools, wanted, labels) : [];
  const resource = wanted ?? known.pools[0]?.resource;
  const limit = resource ? quotaOf(limits ?? [], resource) : null;
  const isEmpty = known.pools.length === 0 && knowsNodes(known);
  if (isEmpty && !limit) {
    return null;
  }
  return (
    <section className="jp-t9k-FreeNow" aria-labelledby={`${prefix}free-now`}>
      {known.pools.length > 0 ? (
        <Pools
          pools={known.pools}
          chosen={chosen}
          trans={trans}
          id={`${prefix}free-now`}
        />
      ) : (
        <Limits
          lines={limits ?? []}
          chosen={wanted ? [wanted] : []}
          namespace={namespace}
          trans={trans}
          id={`${prefix}free-now`}
        />
      )}
      {limit && resource && known.pools.length > 0 && (
        <p className="jp-t9k-caption">
          {mayUseText(resource, limit, namespace, trans)}
        </p>
      )}
      {known.limited !== null && (
        <p className="jp-t9k-caption">{known.limited}</p>
      )}
    </section>
  );
}

/** Table of the cluster's pools. */
function Pools({
  pools,
  chosen,
  id,
  trans
}: {
  pools: readonly Pool[];
  chosen: readonly Pool[];
  /** Id of the table's title. */
  id: string;
  trans: TranslationBundle;
}): React.JSX.Element {
  const names = poolNames(pools);
  const shown = pools
    .map((pool, index) => ({ pool, name: names[index] }))
    .filter(({ pool }, index) => index < POOLS || chosen.includes(pool));
  const more = pools.length - shown.length;
  return (
    <table>
      <thead>
        <tr className="jp-t9k-caption">
          <th id={id}>{trans.__('Free now')}</th>
          <th>{trans.__('GPUs')}</th>
          <th>{trans.__('most on a node')}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ pool, name }) => (
          <tr
            key={`${pool.resource} ${pool.product}`}
            data-chosen={chosen.includes(pool) || undefined}
            title={poolTitle(pool, trans).join('\n')}
          >
            <th scope="row">
              {name}
              {chosen.includes(pool) && (
                <span className="jp-t9k-visuallyHidden">
                  {trans.__('(chosen)')}
                </span>
              )}
            </th>
            <td>{ofText(pool.amount.free, pool.amount.total, pool, trans)}</td>
            <td>
              {ofText(pool.most_on_a_node, pool.largest_node, pool, trans)}
            </td>
          </tr>
        ))}
        {more > 0 && (
          <tr className="jp-t9k-caption">
            <th colSpan={3} scope="row">
              {trans._n('%1 more kind', '%1 more kinds', more)}
            </th>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** Return a free amount and its total, such as “3 of 8”. */
function ofText(
  free: number,
  total: number,
  { resource }: Pick<Pool, 'resource'>,
  trans: TranslationBundle
): string {
  return trans.__(
    '%1 of %2',
    formatFree(resource, free),
    formatAmount(resource, total)
  );
}

/** Table of the namespace's quotas, shown if the pools are not known. */
function Limits({
  lines,
  chosen,
  namespace,
  id,
  trans
}: {
  lines: readonly QuotaLine[];
  /** Resource names of the accelerators that the job requests. */
  chosen: string[];
  namespace: string;
  /** Id of the table's title. */
  id: string;
  trans: TranslationBundle;
}): React.JSX.Element {
  const limits = labelled(limitsOf(lines, chosen), trans);
  if (limits.length === 0) {
    return (
      <p id={id} className="jp-t9k-caption">
        {trans.__('The free capacity is not known')}
      </p>
    );
  }
  return (
    <table>
      <thead>
        <tr className="jp-t9k-caption">
          <th id={id}>{trans.__('Quota of %1', namespace)}</th>
          <th>{trans.__('left')}</th>
        </tr>
      </thead>
      <tbody>
        {limits.map(([label, resource, line]) => (
          <tr
            key={resource}
            title={quotaText(resource, line, namespace, trans)}
          >
            <th scope="row">{label}</th>
            <td>{ofText(leftOf(line), line.hard, { resource }, trans)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
