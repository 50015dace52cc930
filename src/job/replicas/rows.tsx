/** Rows of the overview's sections. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job, JobSpec, Replica } from '../../api/types';
import { formatBytes, formatDuration, listed } from '../../common/format';
import { isActive } from '../../jobs/phase';
import { devicesText } from '../model/text';

/** Pairs of a label and a value. */
export type Rows = [label: string, value: React.ReactNode][];

/**
 * Return the rows of the section “Size”.
 *
 * @param job - The job.
 * @param replicas - The job's replicas.
 * @param hasPods - True if the replicas are pods, which request CPU, memory and shared memory.
 */
export function sizeRows(
  job: Job,
  replicas: readonly Replica[],
  hasPods: boolean,
  trans: TranslationBundle
): Rows {
  const { torchrun, replica_specs } = job.spec;
  const rows: Rows = replica_specs.map(group => {
    const label =
      replica_specs.length > 1
        ? trans.__('Replicas “%1”', group.type)
        : trans.__('Replicas');
    return [label, replicasText(group, torchrun, trans)];
  });
  if (hasPods) {
    rows.push(...resourceRows(job, trans));
  }
  const { devices, devices_held } = job;
  if (devices && devices_held !== null && isActive(job)) {
    rows.push([
      trans.__('GPUs'),
      trans.__('%1 requested, %2 assigned', devices.count, devices_held)
    ]);
  }
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
      listed(nodes)
    ]);
  }
  return rows;
}

/** Return the number of a type's replicas, with the GPUs or processes of each. */
function replicasText(
  { replicas, resources }: JobSpec['replica_specs'][number],
  torchrun: JobSpec['torchrun'],
  trans: TranslationBundle
): string {
  const { device } = resources;
  if (device?.count) {
    const each = devicesText(device, trans);
    return replicas > 1
      ? trans.__('%1 × %2', replicas, each)
      : trans.__('1 replica, %1', each);
  }
  if (torchrun?.proc_per_node === 'gpu') {
    return replicas > 1
      ? trans.__('%1 × one process for each GPU', replicas)
      : trans.__('1 replica, one process for each GPU');
  }
  if (torchrun) {
    const processes = torchrun.proc_per_node;
    return replicas > 1
      ? trans._n('%2 × %1 process', '%2 × %1 processes', processes, replicas)
      : trans._n('1 replica, %1 process', '1 replica, %1 processes', processes);
  }
  return replicas > 1
    ? trans.__('%1 × one process', replicas)
    : trans.__('1 replica, one process');
}

/** Return the rows with the CPU, memory and shared memory that each replica requests. */
function resourceRows(job: Job, trans: TranslationBundle): Rows {
  const { replica_specs, shm } = job.spec;
  return replica_specs.flatMap((group): Rows => {
    const { cpu, memory } = group.resources;
    const parts = [
      amountText(cpu, {
        exact: amount => trans.__('%1 CPU', amount),
        atMost: limit => trans.__('up to %1 CPU', limit),
        between: (least, most) => trans.__('%1 to %2 CPU', least, most)
      }),
      amountText(memory, {
        exact: amount => trans.__('%1 memory', amount),
        atMost: limit => trans.__('up to %1 memory', limit),
        between: (least, most) => trans.__('%1 to %2 memory', least, most)
      })
    ].filter(part => part !== null);
    if (shm) {
      parts.push(
        shm.size_limit
          ? trans.__('%1 shared memory', shm.size_limit)
          : trans.__('shared memory')
      );
    }
    return parts.length === 0
      ? []
      : [
          [
            replica_specs.length > 1
              ? trans.__('Each “%1”', group.type)
              : trans.__('Each replica'),
            listed(parts)
          ]
        ];
  });
}

/** Texts about an amount of one resource. */
interface IAmountTexts {
  exact(amount: string): string;
  atMost(limit: string): string;
  between(request: string, limit: string): string;
}

/** Return a text for a request and a limit, such as “4 to 8 CPU”; null if there is neither. */
function amountText(
  { request, limit }: { request: string | null; limit: string | null },
  texts: IAmountTexts
): string | null {
  if (request === null) {
    return limit === null ? null : texts.atMost(limit);
  }
  return limit === null || request === limit
    ? texts.exact(request)
    : texts.between(request, limit);
}

/** Return the rows of a job's volumes and config files; labels are their paths in the job. */
export function volumeRows(job: Job, trans: TranslationBundle): Rows {
  const { mounts, config_files } = job.spec;
  return [
    ...mounts.map((mount): Rows[number] => [
      mount.mount_path,
      listed([
        trans.__('PVC %1', mount.claim),
        ...(mount.sub_path ? [trans.__('folder %1', mount.sub_path)] : []),
        ...(mount.read_only ? [trans.__('read-only')] : [])
      ])
    ]),
    ...config_files.map(({ path, text }): Rows[number] => [
      path,
      trans.__('config file, %1', formatBytes(new Blob([text]).size))
    ])
  ];
}

/** Return the rows about a job's queue, nodes, scheduler and user. */
export function placementRows(job: Job, trans: TranslationBundle): Rows {
  const { scheduling, security } = job.spec;
  const { queue, priority, priority_class } = scheduling;
  const rows: Rows = [];
  if (queue !== null || priority !== null) {
    rows.push([
      trans.__('Queue'),
      listed([
        ...(queue === null ? [] : [queue]),
        ...(priority === null ? [] : [trans.__('priority %1', priority)])
      ])
    ]);
  }
  if (priority_class !== null) {
    rows.push([trans.__('Priority class'), priority_class]);
  }
  const labels = Object.entries(scheduling.node_selector);
  if (labels.length > 0) {
    rows.push([
      trans.__('Only nodes with'),
      listed(
        labels.map(([key, value]) => (value === '' ? key : `${key} = ${value}`))
      )
    ]);
  }
  if (scheduling.tolerations.length > 0) {
    rows.push([
      trans.__('Tolerated taints'),
      listed(scheduling.tolerations.map(one => tolerationText(one, trans)))
    ]);
  }
  if (scheduling.scheduler !== null) {
    rows.push([trans.__('Scheduler'), scheduling.scheduler]);
  }
  const { uid, gid, fs_group } = security;
  const who = [
    ...(uid === null ? [] : [trans.__('user %1', uid)]),
    ...(gid === null ? [] : [trans.__('group %1', gid)]),
    ...(fs_group === null ? [] : [trans.__('volume group %1', fs_group)])
  ];
  if (who.length > 0) {
    rows.push([trans.__('Runs as'), listed(who)]);
  }
  return rows;
}

/**
 * Return the rows about restarts, the deadline, and the clean-up after the end.
 *
 * @param job - The job.
 * @param hasPods - True if the replicas are pods, which are cleaned up.
 */
export function lifecycleRows(
  job: Job,
  hasPods: boolean,
  trans: TranslationBundle
): Rows {
  const { run_policy, replica_specs, torchrun } = job.spec;
  const policy = replica_specs[0].restart_policy;
  const limit = run_policy.backoff_limit;
  const deadline = run_policy.active_deadline_seconds;
  const rows: Rows = [
    [
      trans.__('Restarts'),
      policy === 'Never'
        ? trans.__('none: the first failure ends the job (Never)')
        : trans.__('%1 of %2 used (%3)', job.restarts, limit, policy)
    ]
  ];
  if (torchrun && torchrun.max_restarts > 0) {
    rows.push([
      trans.__('Worker restarts'),
      trans.__('up to %1, by torchrun', torchrun.max_restarts)
    ]);
  }
  if (run_policy.resume_evicted) {
    rows.push([
      trans.__('After an eviction'),
      trans.__('runs again from the newest checkpoint')
    ]);
  }
  rows.push([
    trans.__('Deadline'),
    deadline === null ? trans.__('none') : formatDuration(deadline, trans)
  ]);
  if (hasPods) {
    rows.push([trans.__('After the job ends'), cleanUpText(job, trans)]);
  }
  return rows;
}

/** Return what happens to the pods and the job after the end. */
function cleanUpText({ spec }: Job, trans: TranslationBundle): string {
  const { clean_up, ttl_seconds } = spec.run_policy;
  if (ttl_seconds === null) {
    return {
      None: trans.__('all pods are kept'),
      Unfinished: trans.__('running pods are deleted, finished pods are kept'),
      All: trans.__('all pods are deleted')
    }[clean_up];
  }
  const time = formatDuration(ttl_seconds, trans);
  return {
    None: trans.__('all pods are kept; after %1 the job is deleted', time),
    Unfinished: trans.__(
      'running pods are deleted, finished pods are kept; after %1 the job is deleted',
      time
    ),
    All: trans.__('all pods are deleted; after %1 the job is deleted', time)
  }[clean_up];
}

/** Return a toleration in kubectl's form: “gpu = a100 (NoSchedule)”. */
function tolerationText(
  toleration: { [key: string]: unknown },
  trans: TranslationBundle
): string {
  const { key, value, effect } = toleration;
  const taint =
    typeof key !== 'string' || key === ''
      ? trans.__('any taint')
      : typeof value === 'string' && value !== ''
        ? `${key} = ${value}`
        : key;
  return typeof effect === 'string' && effect !== ''
    ? `${taint} (${effect})`
    : taint;
}
