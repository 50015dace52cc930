import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job, Replica } from '../../api/types';
import { formatDuration } from '../../model/format';
import { deviceName } from './text';

/** Labels and what stands beside them. */
export type Rows = [label: string, value: React.ReactNode][];

/** How large a job is. */
export function sizeRows(
  job: Job,
  replicas: readonly Replica[],
  trans: TranslationBundle
): Rows {
  const { torchrun, replica_specs } = job.spec;
  const rows: Rows = replica_specs.map(group => {
    const device = group.resources.device;
    const perNode = device?.count
      ? `${device.count} ${deviceName(device.name, trans)}`
      : torchrun
        ? torchrun.proc_per_node === 'gpu'
          ? trans.__('one process for each GPU')
          : trans._n('%1 process', '%1 processes', torchrun.proc_per_node)
        : trans.__('one process');
    const label =
      replica_specs.length > 1
        ? trans.__('Replicas “%1”', group.type)
        : trans.__('Replicas');
    return [
      label,
      group.replicas > 1
        ? trans.__('%1 × %2', group.replicas, perNode)
        : trans.__('1 replica, %1', perNode)
    ];
  });
  if (job.processes !== null) {
    rows.push([
      trans.__('Ranks'),
      torchrun
        ? String(job.processes)
        : trans.__('%1, without torchrun', job.processes)
    ]);
  }
  const nodes = [...new Set(replicas.map(replica => replica.node))].filter(
    node => node !== null
  );
  if (nodes.length) {
    rows.push([
      nodes.length === 1 ? trans.__('Node') : trans.__('Nodes'),
      nodes.join(', ')
    ]);
  }
  return rows;
}

/** What happens when something fails, takes too long, or ends. */
export function lifecycleRows(job: Job, trans: TranslationBundle): Rows {
  const { run_policy, replica_specs, torchrun } = job.spec;
  const policy = replica_specs[0].restart_policy;
  const limit = run_policy.backoff_limit;
  const deadline = run_policy.active_deadline_seconds;
  const rows: Rows = [
    [
      trans.__('Restarts'),
      policy === 'Never'
        ? trans.__('none: it fails with its first failure (Never)')
        : trans.__('%1 of %2 used (%3)', job.restarts, limit, policy)
    ]
  ];
  if (torchrun && torchrun.max_restarts > 0) {
    rows.push([
      trans.__('Worker restarts'),
      trans.__('up to %1, by torchrun itself', torchrun.max_restarts)
    ]);
  }
  rows.push([
    trans.__('Deadline'),
    deadline === null ? trans.__('none') : formatDuration(deadline, trans)
  ]);
  return rows;
}
