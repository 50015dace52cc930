/** View of a cluster's nodes. */
import { searchIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { NodeCapacity } from '../../api/types';
import { errorIcon } from '../../ui/icons';
import { resourceLabels } from '../model/capacityText';
import {
  formatAmount,
  formatClock,
  formatCount,
  formatFree
} from '../../common/format';
import {
  deviceSum,
  isOfKind,
  NODE_KINDS,
  NodeKind,
  nodeMatches,
  NodesModel,
  sumOf
} from '../model/nodes';
import { Banner } from '../../ui/Banner';
import { LinkButton, Button } from '../../ui/Buttons';
import { ClusterBanner } from './ClusterBanner';
import { EmptyState } from '../../ui/EmptyState';
import { useAfter, useShown, useSignal } from '../../common/hooks';
import { Icon } from '../../ui/Icon';
import { Segments } from '../../ui/Segments';
import { NodesTable } from './NodesTable';
import { QuotaTable } from './QuotaTable';

/** Props of `NodesView`. */
interface INodesViewProps {
  model: NodesModel;
  trans: TranslationBundle;
}

/** Shows the nodes of the cluster with a toolbar and sums, or why there are no nodes to show. */
export function NodesView({
  model,
  trans
}: INodesViewProps): React.JSX.Element {
  const root = React.useRef<HTMLDivElement>(null);
  const shown = useShown(root);
  useSignal(model.changed);
  React.useEffect(() => model.setShown(shown), [model, shown]);
  return (
    <div className="jp-t9k-NodesView" ref={root}>
      <Content model={model} trans={trans} />
    </div>
  );
}

/** Shows the table, an error, or a message while the nodes are read. */
function Content({ model, trans }: INodesViewProps): React.JSX.Element {
  const { list, failure, view } = model;
  const retry = (
    <Button onClick={() => void model.refresh()}>
      {trans.__('Try again')}
    </Button>
  );
  if (list === null) {
    return failure ? (
      <EmptyState icon={errorIcon} title={failure.message} actions={retry}>
        {failure.hint && <p>{failure.hint}</p>}
        {failure.verbatim && <code>{failure.verbatim}</code>}
      </EmptyState>
    ) : (
      <Waiting model={model} trans={trans} />
    );
  }
  if (list.limited !== null && list.nodes.length === 0) {
    return (
      <>
        <EmptyState title={trans.__('No nodes to show')} actions={retry}>
          <p>{list.limited}</p>
        </EmptyState>
        {model.capacity && (
          <QuotaTable capacity={model.capacity} trans={trans} />
        )}
      </>
    );
  }
  const { nodes } = list;
  if (nodes.length === 0) {
    return (
      <EmptyState
        title={trans.__('The cluster has no nodes')}
        actions={retry}
      />
    );
  }
  const found = nodes.filter(node => nodeMatches(node, view.filter, trans));
  const visible = found.filter(node => isOfKind(node, view.kind));
  return (
    <>
      <Toolbar model={model} found={found} trans={trans} />
      {failure ? (
        <Banner
          level="warning"
          title={trans.__(
            'The nodes could not be read; they are shown as of %1.',
            formatClock(model.asOf ?? list.time)
          )}
          actions={
            <LinkButton onClick={() => void model.refresh()}>
              {trans.__('Try now')}
            </LinkButton>
          }
        >
          {failure.message}
        </Banner>
      ) : (
        <ClusterBanner
          engines={model.engines}
          refresh={() => void model.refresh()}
          trans={trans}
        />
      )}
      <p className="jp-t9k-NodesView-sums jp-t9k-secondary">
        {sumsText(visible, nodes.length, trans)}
      </p>
      {list.limited !== null && (
        <p className="jp-t9k-NodesView-sums jp-t9k-secondary">{list.limited}</p>
      )}
      {visible.length > 0 ? (
        <NodesTable
          nodes={visible}
          all={nodes}
          view={view}
          onSort={({ key, down }) => {
            model.view = { ...view, sort: key, down };
          }}
          trans={trans}
        />
      ) : (
        <div className="jp-t9k-NothingFound" role="status">
          <p>
            {found.length === 0
              ? trans.__('No node matches “%1”.', view.filter)
              : trans.__('No node of this kind.')}
          </p>
          <LinkButton
            onClick={() => {
              model.view = { ...view, filter: '', kind: 'all' };
            }}
          >
            {trans.__('Show all nodes')}
          </LinkButton>
        </div>
      )}
    </>
  );
}

/** Shows what the user waits for, after a short delay. */
function Waiting({ model, trans }: INodesViewProps): React.JSX.Element {
  const { hasCluster, engines } = model;
  const late = useAfter(true, 400);
  const reasons = engines.flatMap(({ available, reason }) =>
    available ? [] : (reason ?? [])
  );
  // Screen readers announce content that is added to an existing live region, but not the content with which
  // a region is created.
  return (
    <div role="status">
      {late &&
        (hasCluster === false ? (
          <EmptyState
            title={trans.__('There is no cluster that jobs can run on')}
          >
            {[...new Set(reasons)].map(reason => (
              <p key={reason}>{reason}</p>
            ))}
          </EmptyState>
        ) : (
          <p className="jp-t9k-NodesView-wait jp-t9k-secondary">
            {hasCluster
              ? trans.__('Reading the free capacity of each node…')
              : trans.__('Detecting the cluster…')}
          </p>
        ))}
    </div>
  );
}

/** Shows the filter and the selection of nodes by state. */
function Toolbar({
  model,
  found,
  trans
}: INodesViewProps & { found: readonly NodeCapacity[] }): React.JSX.Element {
  const { view } = model;
  const labels: Record<NodeKind, string> = {
    all: trans.__('All'),
    free: trans.__('With free GPUs'),
    unusable: trans.__('With problems')
  };
  const hasDevices = found.some(node => deviceSum(node, 'total') > 0);
  const kinds = NODE_KINDS.filter(
    kind => kind !== 'free' || hasDevices || view.kind === 'free'
  );
  return (
    <div className="jp-t9k-NodesView-toolbar">
      <label className="jp-t9k-Filter-field">
        <Icon of={searchIcon} size={16} />
        <span className="jp-t9k-visuallyHidden">
          {trans.__('Filter the nodes by name, status, product or taint')}
        </span>
        <input
          type="search"
          value={view.filter}
          placeholder={trans.__('Filter: name, status, product, taint')}
          spellCheck={false}
          onChange={event => {
            model.view = { ...view, filter: event.target.value };
          }}
          onKeyDown={event => {
            if (event.key === 'Escape' && view.filter) {
              event.stopPropagation();
              model.view = { ...view, filter: '' };
            }
          }}
        />
      </label>
      <Segments
        aria-label={trans.__('Nodes to show')}
        segments={kinds.map(kind => {
          const count = found.filter(node => isOfKind(node, kind)).length;
          return {
            value: kind,
            label: `${labels[kind]} ${formatCount(count)}`
          };
        })}
        value={view.kind}
        onChange={kind => {
          model.view = { ...view, kind };
        }}
      />
    </div>
  );
}

/**
 * Return the sums of the shown nodes, such as “12 of 400 nodes · GPUs: 6 of 32 free, 1 broken · CPU: 120 of
 * 400 free · 812 pods”.
 */
function sumsText(
  nodes: readonly NodeCapacity[],
  all: number,
  trans: TranslationBundle
): string {
  const devices = new Set(
    nodes.flatMap(({ amounts }) =>
      amounts.map(({ resource }) => resource).filter(name => name.includes('/'))
    )
  );
  const resources = [...devices, 'cpu', 'memory'];
  const labels = resourceLabels(resources, trans);
  const pods = nodes.reduce((sum, node) => sum + node.pods, 0);
  return [
    nodes.length === all
      ? trans._n('%2 node', '%2 nodes', all, formatCount(all))
      : trans.__('%1 of %2 nodes', formatCount(nodes.length), formatCount(all)),
    ...resources.flatMap((resource, index) => {
      const sum = sumOf(nodes, resource);
      if (sum === null) {
        return [];
      }
      const isDevice = resource.includes('/');
      return [
        trans.__(
          '%1: %2 of %3 free',
          labels[index],
          formatFree(resource, sum.free),
          formatAmount(resource, sum.total)
        ) +
          (isDevice && sum.unhealthy > 0
            ? `, ${trans._n('%1 broken', '%1 broken', sum.unhealthy)}`
            : '')
      ];
    }),
    trans._n('%2 pod', '%2 pods', pods, formatCount(pods))
  ].join(' · ');
}
