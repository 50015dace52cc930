/** Free capacity of this machine and of the cluster, in the sidebar. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import {
  Capacity as CapacityInfo,
  EngineInfo,
  JobSummary
} from '../../api/types';
import { capacitySections } from '../../cluster/model/capacity';
import { clusterEngine } from '../../jobs/engines';
import { formatClock } from '../../common/format';
import { ClusterCapacity } from './ClusterCapacity';
import { MachineCapacity } from './MachineCapacity';

interface ICapacityProps {
  engines: readonly EngineInfo[];
  jobs: readonly JobSummary[];
  /** Capacity of the cluster; null while it is not known, and without a cluster. */
  capacity: CapacityInfo | null;
  narrow: boolean;
  /** “as of 10:42” while the connection is lost. */
  note: string | null;
  showNodes(): void;
  trans: TranslationBundle;
}

/** Free capacity of this machine and of the cluster. */
export function Capacity(props: ICapacityProps): React.JSX.Element {
  const { engines, jobs, capacity, narrow, note, showNodes, trans } = props;
  const machine = engines.find(engine => engine.machine)?.machine;
  const engine = clusterEngine(engines);
  const stale = engine?.cluster?.stale_since ?? null;
  return (
    <>
      {capacitySections(engines, jobs, capacity).map(section =>
        section === 'machine' ? (
          machine && (
            <MachineCapacity
              key={section}
              {...{ machine, engines, jobs, note, trans }}
            />
          )
        ) : (
          <ClusterCapacity
            key={section}
            namespace={engine?.default_namespace ?? ''}
            looking={engine?.available !== true}
            note={
              note ??
              (stale === null ? null : trans.__('as of %1', formatClock(stale)))
            }
            {...{ capacity, narrow, showNodes, trans }}
          />
        )
      )}
    </>
  );
}
