/** Columns of the table of replicas. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobState } from '../../api/aliases';
import { Replica } from '../../api/types';
import { serverNow } from '../../common/clock';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { IColumn } from '../../ui/table/Table';
import { Age, Duration, Time } from '../../ui/Time';
import { listed } from '../../common/format';

/** CSS class of columns with numbers. */
const NUMBER = 'jp-t9k-Table-number';
/** CSS class of columns that are hidden on a narrow tab. */
const MINOR = 'jp-t9k-Table-minor';
/** CSS class of the column that takes the remaining width and truncates its text. */
const WIDE = 'jp-t9k-Table-wide';

/** Column of the table of replicas. */
export interface IReplicaColumn extends IColumn<Replica> {
  /** Value by which the rows are sorted. */
  order: (replica: Replica) => number | string;
  /**
   * Kind of engine that has the column: `machine` if replicas are processes, `cluster` if they are pods.
   * Undefined for both.
   */
  of?: 'machine' | 'cluster';
  /** Return true if a replica has a value. The column is left out if no replica has one. */
  has?: (replica: Replica) => boolean;
}

/**
 * Return the columns of the table.
 *
 * @param replicas - The rows. Columns that none of them needs are left out.
 * @param hasPods - True if the replicas are pods, false if they are processes.
 */
export function replicaColumns(
  replicas: readonly Replica[],
  hasPods: boolean,
  trans: TranslationBundle
): IReplicaColumn[] {
  const engine = hasPods ? 'cluster' : 'machine';
  return allColumns(trans).filter(
    ({ of, has }) => (of ?? engine) === engine && (!has || replicas.some(has))
  );
}

/** Return the columns for all kinds of engines. */
function allColumns(trans: TranslationBundle): IReplicaColumn[] {
  return [
    {
      key: 'name',
      label: trans.__('Replica'),
      order: replica => replica.name,
      cell: replica => replica.name
    },
    {
      key: 'status',
      label: trans.__('Status'),
      order: replica => replica.status,
      cell: replica => (
        <span className="jp-t9k-Replicas-status">
          <PhaseIcon state={stateOf(replica)} size={14} />
          {replica.status}
        </span>
      )
    },
    {
      key: 'ranks',
      label: trans.__('Ranks'),
      has: replica => replica.ranks.length > 0,
      order: replica => replica.ranks[0] ?? -1,
      cell: replica => rankRange(replica.ranks)
    },
    {
      key: 'node',
      label: trans.__('Node'),
      className: MINOR,
      order: replica => replica.node ?? '',
      cell: replica => replica.node
    },
    {
      key: 'pid',
      label: trans.__('PID'),
      className: `${NUMBER} ${MINOR}`,
      of: 'machine',
      order: replica => replica.pid ?? -1,
      cell: replica => replica.pid
    },
    {
      key: 'devices',
      label: trans.__('GPUs'),
      className: `${NUMBER} ${MINOR}`,
      has: replica => deviceCount(replica) > 0,
      order: deviceCount,
      cell: replica =>
        listed(replica.devices.map(String)) || deviceCount(replica)
    },
    {
      key: 'restarts',
      label: trans.__('Restarts'),
      className: NUMBER,
      order: replica => replica.restarts,
      cell: replica =>
        replica.restarts > 0 ? (
          <strong>{replica.restarts}</strong>
        ) : (
          replica.restarts
        )
    },
    {
      key: 'ip',
      label: trans.__('IP'),
      className: MINOR,
      of: 'cluster',
      has: replica => replica.pod?.ip != null,
      order: replica => replica.pod?.ip ?? '',
      cell: replica => replica.pod?.ip
    },
    {
      key: 'pod-age',
      label: trans.__('Age'),
      className: NUMBER,
      of: 'cluster',
      order: replica =>
        replica.pod === null ? -1 : serverNow() - replica.pod.created_at,
      cell: replica =>
        replica.pod && <Age time={replica.pod.created_at} trans={trans} />
    },
    {
      key: 'started',
      label: trans.__('Started'),
      className: `${NUMBER} ${MINOR}`,
      of: 'machine',
      order: replica => replica.started_at ?? Infinity,
      cell: replica =>
        replica.started_at !== null && (
          <Time time={replica.started_at} trans={trans} />
        )
    },
    {
      key: 'age',
      label: trans.__('Ran for'),
      className: NUMBER,
      of: 'machine',
      order: replica =>
        replica.started_at === null
          ? -1
          : (replica.ended_at ?? serverNow()) - replica.started_at,
      cell: replica =>
        replica.started_at !== null && (
          <Duration
            start={replica.started_at}
            end={replica.ended_at}
            trans={trans}
          />
        )
    },
    {
      key: 'code',
      label: trans.__('Exit code'),
      className: MINOR,
      of: 'machine',
      order: replica => replica.exit_code ?? -1,
      cell: replica =>
        replica.exit_code === null
          ? ''
          : (replica.attempts[replica.attempts.length - 1]?.ended ??
            replica.exit_code)
    },
    {
      key: 'reason',
      label: trans.__('Why'),
      className: `${MINOR} ${WIDE}`,
      of: 'cluster',
      has: replica => replica.reason !== null,
      order: replica => replica.reason?.sentence ?? '',
      cell: replica =>
        replica.reason && (
          <span title={replica.reason.sentence}>{replica.reason.sentence}</span>
        )
    }
  ];
}

/** Return the number of a replica's devices. */
function deviceCount({ devices, pod }: Replica): number {
  return devices.length || (pod?.device?.count ?? 0);
}

/** Return a short text for sorted ranks: “0 – 3”, “5”, or “0, 4, 8” for ranks with gaps. */
export function rankRange(ranks: readonly number[]): string {
  if (ranks.length === 0) {
    return '';
  }
  const first = ranks[0];
  const last = ranks[ranks.length - 1];
  if (ranks.length === 1) {
    return String(first);
  }
  return last - first === ranks.length - 1
    ? `${first} – ${last}`
    : listed(ranks.map(String));
}

/** Return the state whose icon is shown for a replica's status, which is written as kubectl writes it. */
function stateOf(replica: Replica): JobState {
  switch (replica.status) {
    case 'Running':
      return 'running';
    case 'Completed':
    case 'Succeeded':
      return 'succeeded';
    case 'Failed':
    case 'OOMKilled':
    case 'Evicted':
    case 'NodeLost':
    case 'DeadlineExceeded':
    case 'ContainerStatusUnknown':
    case 'InvalidImageName':
      return 'failed';
    case 'Restarting':
      return 'resuming';
    case 'Terminated':
    case 'Terminating':
    case 'Stopped':
      return 'stopped';
    case 'Unknown':
      return 'unknown';
    default:
      // Such as “Init:Error”, “ErrImagePull”, “CrashLoopBackOff” or “CreateContainerConfigError”.
      return /Err|BackOff/.test(replica.status) ? 'failed' : 'pending';
  }
}
