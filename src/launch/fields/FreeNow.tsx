import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Pool, QuotaLine } from '../../api/types';
import {
  knowsNodes,
  leftOf,
  limitsOf,
  poolsFor,
  quotaOf
} from '../../cluster/model/capacity';
import {
  labelled,
  mayUseText,
  poolTitle,
  quotaText
} from '../../cluster/model/capacityText';
import { poolNames } from '../../cluster/model/devices';
import { formatAmount, formatFree } from '../../common/format';
import { useLaunch, useModel } from '../parts/context';

/** Kinds that have a row; one's own choice always has one. */
const POOLS = 6;

/** Accelerators that are free now, and how many of them the namespace may have; nothing where nothing is known. */
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

function Pools({
  pools,
  chosen,
  id,
  trans
}: {
  pools: readonly Pool[];
  chosen: readonly Pool[];
  /** Of the title. */
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

/** What the limits of the namespace leave, where no more is known. */
function Limits({
  lines,
  chosen,
  namespace,
  id,
  trans
}: {
  lines: readonly QuotaLine[];
  /** The accelerators that the job asks for. */
  chosen: string[];
  namespace: string;
  /** Of the title. */
  id: string;
  trans: TranslationBundle;
}): React.JSX.Element {
  const limits = labelled(limitsOf(lines, chosen), trans);
  if (limits.length === 0) {
    return (
      <p id={id} className="jp-t9k-caption">
        {trans.__('What is free is not known')}
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
