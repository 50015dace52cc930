import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ClusterInfo, EngineInfo } from '../api/types';
import { formatClock } from '../model/format';
import { Banner } from './Banner';
import { LinkButton } from './Buttons';

interface IClusterBannerProps {
  engines: readonly EngineInfo[];
  refresh: () => void;
  trans: TranslationBundle;
}

/** Clusters of which changes may have been missed, since when and why; all the rest goes on. */
export function ClusterBanner({
  engines,
  refresh,
  trans
}: IClusterBannerProps): React.JSX.Element {
  return (
    <>
      {staleClusters(engines).map(({ cluster, since, seen }) => (
        <Banner
          key={cluster.server}
          level="warning"
          title={
            seen
              ? trans.__(
                  'Connection to the cluster lost; state as of %1.',
                  formatClock(since)
                )
              : trans.__(
                  'No connection to the cluster since %1.',
                  formatClock(since)
                )
          }
          actions={
            <LinkButton onClick={refresh}>{trans.__('Try now')}</LinkButton>
          }
        >
          {cluster.stale_reason}
        </Banner>
      ))}
    </>
  );
}

/** A cluster of which changes may have been missed. */
interface IStaleCluster {
  cluster: ClusterInfo;
  /** In seconds. */
  since: number;
  /** Whether anything was ever seen of it. */
  seen: boolean;
}

/** The clusters that are stale, each once. */
export function staleClusters(engines: readonly EngineInfo[]): IStaleCluster[] {
  const found = new Map<string, IStaleCluster>();
  for (const { cluster, available } of engines) {
    const since = cluster?.stale_since;
    if (cluster && since != null) {
      const known = found.get(cluster.server);
      const seen = available || known?.seen === true;
      const first = known && known.since <= since ? known : { cluster, since };
      found.set(cluster.server, { ...first, seen });
    }
  }
  return [...found.values()];
}
