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
      {staleClusters(engines).map(({ cluster, since }) => (
        <Banner
          key={cluster.server}
          level="warning"
          title={trans.__(
            'Connection to the cluster lost; state as of %1.',
            formatClock(since)
          )}
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

/** The clusters that are stale, each once, and since when, in seconds. */
export function staleClusters(
  engines: readonly EngineInfo[]
): { cluster: ClusterInfo; since: number }[] {
  const found = new Map<string, { cluster: ClusterInfo; since: number }>();
  for (const { cluster } of engines) {
    const since = cluster?.stale_since;
    if (cluster && since != null) {
      const known = found.get(cluster.server);
      if (!known || since < known.since) {
        found.set(cluster.server, { cluster, since });
      }
    }
  }
  return [...found.values()];
}
