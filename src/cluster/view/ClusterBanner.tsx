/** Banners about clusters whose state is stale. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ClusterInfo, EngineInfo } from '../../api/types';
import { formatClock, sentences } from '../../common/format';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';

/** Props of `ClusterBanner`. */
interface IClusterBannerProps {
  engines: readonly EngineInfo[];
  refresh: () => void;
  trans: TranslationBundle;
}

/**
 * Shows a banner for each cluster from which changes may have been missed: since when, why, and a button that
 * tries again.
 */
export function ClusterBanner({
  engines,
  refresh,
  trans
}: IClusterBannerProps): React.JSX.Element {
  return (
    <>
      {staleClusters(engines).map(({ cluster, since, seen }) => (
        <Banner
          key={`${cluster.server} ${cluster.stale_reason}`}
          level="warning"
          title={staleTitle(cluster, since, seen, trans)}
          actions={
            <LinkButton onClick={refresh}>{trans.__('Try now')}</LinkButton>
          }
        >
          <StaleReason cluster={cluster} />
        </Banner>
      ))}
    </>
  );
}

/** Shows why a cluster's state is stale, a hint, and the cluster's own error message. */
export function StaleReason({
  cluster
}: {
  cluster: ClusterInfo;
}): React.JSX.Element {
  const { stale_reason: reason, stale_hint: hint } = cluster;
  const verbatim = cluster.stale_verbatim;
  return (
    <>
      {sentences([reason, hint])}
      {verbatim && !reason?.includes(verbatim) && (
        <pre className="jp-t9k-Verbatim">{verbatim}</pre>
      )}
    </>
  );
}

/** Return the reason why a cluster's state is stale: a sentence without its full stop. */
export function whyStale(
  cluster: ClusterInfo,
  trans: TranslationBundle
): string {
  switch (cluster.stale_code) {
    case 'Silent':
      return trans.__('Changes in the cluster do not arrive.');
    case 'NoCredentials':
      return trans.__('Not logged in to the cluster.');
    case 'Forbidden':
      return trans.__('No permission to see changes in the cluster.');
    case 'NotServed':
      return trans.__('The cluster no longer has this kind of object.');
    case 'Busy':
      return trans.__('The cluster is too busy to answer.');
    case 'ServerError':
      return trans.__('The cluster answers with an error.');
    case 'Refused':
      return trans.__('The cluster refuses to answer.');
    case 'NameUnknown':
      return trans.__('The cluster’s address was not found.');
    case 'Untrusted':
      return trans.__('No secure connection to the cluster.');
    case 'ProxyFailed':
      return trans.__('The proxy does not lead to the cluster.');
    default:
      return trans.__('Connection to the cluster lost.');
  }
}

/** Return the reason why a cluster was never reached. */
function whyNeverSeen(cluster: ClusterInfo, trans: TranslationBundle): string {
  return (cluster.stale_code ?? 'Unreachable') === 'Unreachable'
    ? trans.__('No connection to the cluster.')
    : whyStale(cluster, trans);
}

/** Return the title of a cluster's banner: why its state is stale, and from which time the state is. */
function staleTitle(
  cluster: ClusterInfo,
  since: number,
  seen: boolean,
  trans: TranslationBundle
): string {
  const clock = formatClock(since);
  return seen
    ? `${whyStale(cluster, trans)} ${trans.__('State as of %1.', clock)}`
    : `${whyNeverSeen(cluster, trans)} ${stateUnknown(clock, trans)}`;
}

/** Return a sentence that names the time since which a cluster's state is unknown. */
export function stateUnknown(since: string, trans: TranslationBundle): string {
  return trans.__('The cluster’s state has been unknown since %1.', since);
}

/** A cluster from which changes may have been missed. */
interface IStaleCluster {
  cluster: ClusterInfo;
  /** Time from which on changes may be missing, in seconds since the epoch. */
  since: number;
  /** True if the cluster was reached before. */
  seen: boolean;
}

/** Return the stale clusters. Engines of one cluster with the same reason are merged. */
function staleClusters(engines: readonly EngineInfo[]): IStaleCluster[] {
  const found = new Map<string, IStaleCluster>();
  for (const { cluster, available } of engines) {
    const since = cluster?.stale_since;
    if (cluster && since != null) {
      const key = `${cluster.server} ${cluster.stale_reason}`;
      const known = found.get(key);
      const seen = available || known?.seen === true;
      const first = known && known.since <= since ? known : { cluster, since };
      found.set(key, { ...first, seen });
    }
  }
  return [...found.values()];
}
