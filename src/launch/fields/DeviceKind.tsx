import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Pool } from '../../api/types';
import { poolNames } from '../../cluster/model/devices';
import { formatAmount, formatFree } from '../../common/format';
import { GPU } from '../model/form';
import { Combobox, IChoice } from '../parts/Combobox';
import { useLaunch, useModel } from '../parts/context';

/** A kind of accelerators that a form can ask for: a resource, and the product if there are several. */
interface IKind extends IChoice {
  resource: string;
  pool: Pool | null;
}

/** Which accelerators the job is to have: a kind that the cluster has, or any resource by its name. */
export function DeviceKind({
  field,
  name,
  disabled
}: {
  field: string;
  /** The resource that is asked for. */
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

/** What the cluster has: each resource, and its products where it has several that nodes tell apart. */
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
      note: [
        own.length > 1 ? trans.__('any kind') : first.name,
        freeOf(own)
      ].join(', '),
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

/** Where it is not known what the cluster has. */
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
