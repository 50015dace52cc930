/** Field of the kind of accelerators. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Pool } from '../../../api/types';
import { poolNames } from '../../../cluster/model/devices';
import { formatAmount, formatFree, listed } from '../../../common/format';
import { GPU } from '../../content/form';
import { Combobox, IChoice } from '../../parts/Combobox';
import { useLaunch, useModel } from '../../parts/context';

/** A choice of the field: a resource, or one product of a resource. */
interface IKind extends IChoice {
  resource: string;
  /** The pool of the product; null for all products of the resource. */
  pool: Pool | null;
}

/** Choice of the accelerators that the job requests. The user may also type the name of any resource. */
export function DeviceKind({
  field,
  name,
  disabled
}: {
  field: string;
  /** Name of the requested resource. */
  name: string;
  disabled: boolean;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const pools = useModel(({ capacity }) => capacity.known?.pools ?? []);
  const kinds = pools.length > 0 ? kindsOf(pools, trans) : usualKinds(trans);
  const labels = useModel(({ nodeLabels }) => nodeLabels);
  const chosen = kinds.find(
    ({ resource, pool }) =>
      resource === name &&
      pool?.product_label &&
      labels[pool.product_label] === pool.product
  );
  return (
    <Combobox
      code={!chosen}
      field={field}
      value={chosen?.value ?? name}
      choices={kinds}
      disabled={disabled}
      onChange={text => {
        const kind = kinds.find(({ value }) => value === text);
        model.setDeviceKind(
          kind?.resource ?? (text.trim() || GPU),
          kind?.pool ?? null
        );
      }}
    />
  );
}

/** Return the choices for the cluster's pools: each resource, and its products if node labels distinguish them. */
function kindsOf(pools: readonly Pool[], trans: TranslationBundle): IKind[] {
  const names = poolNames(pools);
  const resources = [...new Set(pools.map(({ resource }) => resource))];
  return resources.flatMap((resource): IKind[] => {
    const own = pools
      .map((pool, index) => ({ pool, name: names[index] }))
      .filter(({ pool }) => pool.resource === resource);
    const [first] = own;
    const freeOf = (which: typeof own): string => {
      const sum = (part: 'free' | 'total'): number =>
        which.reduce((all, { pool }) => all + pool.amount[part], 0);
      return trans.__(
        '%1 of %2 free',
        formatFree(resource, sum('free')),
        formatAmount(resource, sum('total'))
      );
    };
    const any: IKind = {
      value: resource,
      note: listed([
        own.length > 1 ? trans.__('any kind') : first.name,
        freeOf(own)
      ]),
      resource,
      pool: null
    };
    return own.length === 1
      ? [any]
      : [
          ...own
            .filter(({ pool }) => pool.product_label !== null)
            .map(each => ({
              value: each.name,
              note: freeOf([each]),
              resource,
              pool: each.pool
            })),
          any
        ];
  });
}

/** Return the choices if the cluster's pools are not known. */
function usualKinds(trans: TranslationBundle): IKind[] {
  return [
    { resource: GPU, note: trans.__('NVIDIA, whole') },
    {
      resource: 'nvidia.com/gpu.shared',
      note: trans.__('NVIDIA, shared (T9k)')
    },
    { resource: 'amd.com/gpu', note: trans.__('AMD') }
  ].map(kind => ({ ...kind, value: kind.resource, pool: null }));
}
