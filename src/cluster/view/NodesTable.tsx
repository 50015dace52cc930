/** Table of nodes. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { NodeCapacity, Pool } from '../../api/types';
import { warningIcon } from '../../ui/icons';
import { amountOf, sharesOf } from '../model/capacity';
import { heldText } from '../model/capacityText';
import { poolNames } from '../model/devices';
import { formatAmount, formatFree, listed } from '../../common/format';
import {
  deviceSum,
  devicesOf,
  INodesView,
  mineOf,
  nodeStatus
} from '../model/nodes';
import { CapacityBar } from './CapacityBar';
import { Icon } from '../../ui/Icon';
import { compareCells, Grid, IColumn, ISort } from '../../ui/table/Table';

/** Column by which the table can be sorted. */
type NodeColumn = IColumn<NodeCapacity> &
  Required<Pick<IColumn<NodeCapacity>, 'order'>>;

/** Kind of accelerators: resource and product. */
type IKind = Pick<Pool, 'resource' | 'product'>;

/** Props of `NodesTable`. */
interface INodesTableProps {
  /** The shown nodes. */
  nodes: readonly NodeCapacity[];
  /** All nodes of the cluster, which decide the columns. */
  all: readonly NodeCapacity[];
  view: INodesView;
  onSort(sort: ISort): void;
  trans: TranslationBundle;
}

/** Shows one row for each node. Rows keep their order while the pointer or the focus is in the table. */
export function NodesTable(props: INodesTableProps): React.JSX.Element {
  const { nodes, all, view, onSort, trans } = props;
  // The columns depend on all nodes. They are computed when the nodes change, not when the table is scrolled.
  const columns = React.useMemo(
    () => columnsOf(all, view.sort, trans),
    [all, view.sort, trans]
  );
  const by = columns.find(({ key }) => key === view.sort) ?? columns[0];
  const [held, setHeld] = React.useState(false);
  const sorted = useHeldOrder(nodes, by, view, held);
  return (
    <Grid
      label={trans.__('Nodes')}
      className="jp-t9k-Nodes"
      rows={sorted}
      columns={columns}
      sort={{ key: by.key, down: view.down }}
      onSort={onSort}
      onHold={setHeld}
      takesFocusOf=".jp-t9k-NodesTab"
    />
  );
}

/**
 * Return the sorted nodes. While the order is held, nodes keep their places, and new nodes come last.
 *
 * @param nodes - The shown nodes.
 * @param by - Column by which the nodes are sorted.
 * @param view - Settings of the table.
 * @param hold - True to hold the order.
 */
function useHeldOrder(
  nodes: readonly NodeCapacity[],
  by: NodeColumn,
  view: INodesView,
  hold: boolean
): readonly NodeCapacity[] {
  const last = React.useRef({ view, names: [] as string[] });
  return React.useMemo(() => {
    // A change of the settings by the user sorts at once.
    const isHeld = hold && last.current.view === view;
    const places = new Map(
      isHeld ? last.current.names.map((name, index) => [name, index]) : []
    );
    const sorted = nodes
      .map(node => ({
        node,
        place: places.get(node.name) ?? places.size,
        cell: by.order(node)
      }))
      .sort(
        (a, b) =>
          a.place - b.place ||
          compareCells(a.cell, b.cell) * (view.down ? -1 : 1) ||
          compareCells(a.node.name, b.node.name)
      )
      .map(({ node }) => node);
    last.current = { view, names: sorted.map(({ name }) => name) };
    return sorted;
  }, [nodes, by, view, hold]);
}

/**
 * Return the columns. Columns of accelerators are left out if no node has any, unless the table is sorted by
 * them.
 *
 * @param nodes - All nodes of the cluster.
 * @param sort - Key of the column by which the table is sorted.
 */
function columnsOf(
  nodes: readonly NodeCapacity[],
  sort: string,
  trans: TranslationBundle
): NodeColumn[] {
  const shown = (
    columns: NodeColumn[],
    part: 'total' | 'unhealthy'
  ): NodeColumn[] => {
    const isOfAny = nodes.some(node => deviceSum(node, part) > 0);
    return columns.filter(({ key }) => isOfAny || key === sort);
  };
  const kindOf = kindNames(nodes);
  const measured = (resource: string, label: string): NodeColumn => ({
    key: resource,
    label,
    title: trans.__('Free and total'),
    className: 'jp-t9k-Table-number jp-t9k-Nodes-least',
    order: node => amountOf(node.amounts, resource)?.free ?? -1,
    cell: node => {
      const amount = amountOf(node.amounts, resource);
      return (
        amount && (
          <>
            <b>{formatFree(resource, amount.free)}</b>{' '}
            {trans._p('total', 'of %1', formatAmount(resource, amount.total))}
          </>
        )
      );
    }
  });
  const devices: NodeColumn[] = [
    {
      key: 'product',
      label: trans.__('GPU'),
      className: 'jp-t9k-Table-minor',
      order: kindOf,
      titleOf: node => node.product ?? '',
      cell: kindOf
    },
    {
      key: 'devices',
      label: trans.__('GPUs free'),
      className: 'jp-t9k-Nodes-devices',
      order: node => (devicesOf(node).length ? deviceSum(node, 'free') : -1),
      titleOf: node => devicesTitle(node, trans),
      cell: node =>
        devicesOf(node).length > 0 && <Devices node={node} trans={trans} />
    }
  ];
  const broken: NodeColumn[] = [
    {
      key: 'unhealthy',
      label: trans.__('Broken'),
      title: trans.__('GPUs that the node has and does not offer'),
      className: 'jp-t9k-Table-number jp-t9k-Table-minor',
      order: node => deviceSum(node, 'unhealthy'),
      cell: node => {
        const count = deviceSum(node, 'unhealthy');
        return count > 0 && <strong>{count}</strong>;
      }
    }
  ];
  return [
    {
      key: 'name',
      label: trans.__('Name'),
      className: 'jp-t9k-Nodes-name',
      order: node => node.name,
      titleOf: ({ name, address, roles }) =>
        [name, address, listed(roles)].filter(Boolean).join('\n'),
      cell: node => node.name
    },
    {
      key: 'status',
      label: trans.__('Status'),
      order: node => nodeStatus(node, trans),
      titleOf: node => statusTitle(node, trans),
      cell: node => <Status node={node} trans={trans} />
    },
    ...shown(devices, 'total'),
    ...shown(broken, 'unhealthy'),
    measured('cpu', trans.__('CPU free')),
    measured('memory', trans.__('Memory free')),
    {
      key: 'pods',
      label: trans.__('Pods'),
      className: 'jp-t9k-Table-number jp-t9k-Table-minor',
      order: node => node.pods,
      cell: node => node.pods
    }
  ];
}

/** Return a function that gives the short names of a node's accelerators. */
function kindNames(
  nodes: readonly NodeCapacity[]
): (node: NodeCapacity) => string {
  const kinds = new Map(
    nodes.flatMap(node =>
      devicesOf(node).map(({ resource }): [string, IKind] => [
        `${resource} ${node.product}`,
        { resource, product: node.product }
      ])
    )
  );
  const names = poolNames([...kinds.values()]);
  const byKind = new Map([...kinds.keys()].map((key, i) => [key, names[i]]));
  return node =>
    listed(
      devicesOf(node).map(({ resource }) =>
        byKind.get(`${resource} ${node.product}`)
      )
    );
}

/** Shows a node's status, with a warning sign if the node accepts no pods. */
function Status({
  node,
  trans
}: {
  node: NodeCapacity;
  trans: TranslationBundle;
}): React.JSX.Element {
  const isOpen = node.ready && !node.cordoned;
  const taints = node.taints.length;
  return (
    <span className="jp-t9k-Nodes-status" data-open={isOpen || undefined}>
      {!isOpen && <Icon of={warningIcon} size={14} />}
      {nodeStatus(node, trans)}
      {taints > 0 && (
        <span className="jp-t9k-caption">
          {trans._n('%1 taint', '%1 taints', taints)}
        </span>
      )}
    </span>
  );
}

/** Return the tooltip of a node's status, one fact per line. */
function statusTitle(node: NodeCapacity, trans: TranslationBundle): string {
  return [
    node.ready
      ? null
      : trans.__(
          'The node reports that it is not ready, or does not report its status.'
        ),
    node.cordoned
      ? trans.__('The node is cordoned: it accepts no new pods.')
      : null,
    ...node.taints.map(({ key, value, effect }) =>
      trans.__(
        'Only for pods that tolerate %1',
        `${key}${value ? `=${value}` : ''}:${effect}`
      )
    )
  ]
    .filter(Boolean)
    .join('\n');
}

/** Shows the free and total accelerators of each kind (“2 of 8”) below a bar of all kinds. */
function Devices({
  node,
  trans
}: {
  node: NodeCapacity;
  trans: TranslationBundle;
}): React.JSX.Element {
  const sum = {
    total: deviceSum(node, 'total'),
    allocated: deviceSum(node, 'allocated'),
    free: deviceSum(node, 'free')
  };
  return (
    <span className="jp-t9k-Nodes-bar">
      <CapacityBar shares={sharesOf(sum, mineOf(node))} />
      <span>
        {devicesOf(node).map(({ resource, free, total }, index) => (
          <React.Fragment key={resource}>
            {index > 0 && ' · '}
            <b>{free}</b> {trans._p('total', 'of %1', total)}
          </React.Fragment>
        ))}
      </span>
    </span>
  );
}

/** Return the tooltip of a node's accelerators, two lines for each kind. */
function devicesTitle(node: NodeCapacity, trans: TranslationBundle): string {
  return devicesOf(node)
    .flatMap(({ resource, total, allocated, free }) => [
      trans.__('%1: %2 of %3 free', resource, free, total),
      heldText(resource, allocated, node.mine[resource] ?? 0, trans)
    ])
    .join('\n');
}
