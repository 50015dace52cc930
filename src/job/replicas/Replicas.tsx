import { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Replica } from '../../api/types';
import { logIcon } from '../../ui/icons';
import { serverNow } from '../../common/clock';
import { JobState } from '../../api/aliases';
import { IconButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { compareCells, SortHead, Space, useRowHeight } from '../../ui/Table';
import { Age, Duration, Time } from '../../ui/Time';
import { useWindow } from '../../common/useWindow';
import { ReplicaDetail } from './ReplicaDetail';
import { useGridFocus } from '../../common/useGridFocus';

interface IColumn {
  key: string;
  label: string;
  number?: boolean;
  /** Left out on a narrow tab. */
  minor?: boolean;
  /** Takes what width is left, and is cut. */
  wide?: boolean;
  /** Only where replicas are processes of a machine, or only where they are pods. */
  of?: 'machine' | 'cluster';
  /** Left out where no replica has it. */
  has?: (replica: Replica) => boolean;
  order: (replica: Replica) => number | string;
  cell: (replica: Replica) => React.ReactNode;
}

interface IReplicasProps {
  replicas: readonly Replica[];
  /** Whether the replicas are pods; else they are processes. */
  hasPods: boolean;
  trans: TranslationBundle;
  showLog(replica: Replica): void;
}

/** One row for each replica, in kubectl's words; those of a cluster open to what their pods really are. */
export function Replicas(props: IReplicasProps): React.JSX.Element {
  const { replicas, trans } = props;
  const place = props.hasPods ? 'cluster' : 'machine';
  const columns = columnsOf(trans).filter(
    ({ of, has }) => (of ?? place) === place && (!has || replicas.some(has))
  );
  const [sort, setSort] = React.useState({ key: 'name', down: false });
  const grid = useGridFocus();
  const body = React.useRef<HTMLTableSectionElement>(null);
  const height = useRowHeight(body);
  const [open, setOpen] = React.useState<ReadonlySet<string>>(new Set());
  const [details, setDetails] = React.useState<ReadonlyMap<string, number>>(
    new Map()
  );
  const toggle = (replica: Replica): void => {
    const changed = new Set(open);
    if (!changed.delete(replica.name)) {
      changed.add(replica.name);
    }
    setOpen(changed);
  };
  const isOpen = (replica: Replica): boolean =>
    open.has(replica.name) && hasDetail(replica);
  const by = columns.find(column => column.key === sort.key) ?? columns[0];
  const sorted = [...replicas].sort(
    (a, b) => compareCells(by.order(a), by.order(b)) * (sort.down ? -1 : 1)
  );
  const list = useWindow(
    sorted.map(replica => replica.name),
    sorted.map(
      replica =>
        height + (isOpen(replica) ? (details.get(replica.name) ?? 0) : 0)
    )
  );
  React.useLayoutEffect(() => {
    const found = new Map(details);
    for (const detail of body.current?.querySelectorAll<HTMLElement>(
      'tr[data-detail]'
    ) ?? []) {
      found.set(
        detail.dataset.detail ?? '',
        detail.getBoundingClientRect().height
      );
    }
    if ([...found].some(([name, size]) => details.get(name) !== size)) {
      setDetails(found);
    }
  });
  const [first, last] = list.range;
  if (replicas.length === 0) {
    return (
      <p className="jp-t9k-LogEmpty">
        {trans.__('No replica yet. They are listed as soon as they are made.')}
      </p>
    );
  }
  return (
    <div
      className="jp-t9k-Grid jp-t9k-Replicas"
      ref={list.ref}
      onScroll={list.onScroll}
    >
      <table
        className="jp-t9k-Table"
        role="grid"
        aria-label={trans.__('Replicas')}
        aria-rowcount={replicas.length + 1}
        {...grid.props}
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(column => (
              <SortHead
                key={column.key}
                column={column.key}
                label={column.label}
                className={cellClass(column)}
                sort={{ ...sort, key: by.key }}
                onSort={setSort}
              />
            ))}
            <th>
              <span className="jp-t9k-visuallyHidden">{trans.__('Log')}</span>
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          <Space height={list.offsets[first]} />
          {sorted.slice(first, last).map((replica, index) => (
            <React.Fragment key={replica.name}>
              <tr
                aria-rowindex={first + index + 2}
                data-opens={hasDetail(replica) || undefined}
                onClick={event => {
                  const target = event.target as HTMLElement;
                  if (hasDetail(replica) && !target.closest('button')) {
                    toggle(replica);
                  }
                }}
              >
                {columns.map(column => (
                  <td
                    key={column.key}
                    className={cellClass(column)}
                    role="gridcell"
                    tabIndex={-1}
                  >
                    {column.key === 'name' && hasDetail(replica) ? (
                      <Opener
                        replica={replica}
                        open={isOpen(replica)}
                        toggle={() => toggle(replica)}
                      />
                    ) : (
                      column.cell(replica)
                    )}
                  </td>
                ))}
                <td role="gridcell" className="jp-t9k-Table-number">
                  <IconButton
                    icon={logIcon}
                    label={trans.__('Log of %1', replica.name)}
                    tabIndex={-1}
                    onClick={() => props.showLog(replica)}
                  />
                </td>
              </tr>
              {isOpen(replica) && (
                <tr
                  data-detail={replica.name}
                  className="jp-t9k-Replicas-detail"
                >
                  <td
                    role="gridcell"
                    tabIndex={-1}
                    colSpan={columns.length + 1}
                  >
                    <ReplicaDetail replica={replica} trans={trans} />
                  </td>
                </tr>
              )}
            </React.Fragment>
          ))}
          <Space height={list.offsets[sorted.length] - list.offsets[last]} />
        </tbody>
      </table>
    </div>
  );
}

/** A replica's name, by which its row is opened. */
function Opener(props: {
  replica: Replica;
  open: boolean;
  toggle(): void;
}): React.JSX.Element {
  const caret = props.open ? caretDownIcon : caretRightIcon;
  return (
    <button
      type="button"
      className="jp-t9k-Replicas-opener"
      tabIndex={-1}
      aria-expanded={props.open}
      onClick={props.toggle}
    >
      <Icon of={caret} />
      {props.replica.name}
    </button>
  );
}

/** Whether there is more to say of a replica than its row has. */
function hasDetail({ pod, reason }: Replica): boolean {
  return pod !== null || reason !== null;
}

function cellClass({ number, minor, wide }: IColumn): string | undefined {
  return (
    [
      number && 'jp-t9k-Table-number',
      minor && 'jp-t9k-Table-minor',
      wide && 'jp-t9k-Table-wide'
    ]
      .filter(Boolean)
      .join(' ') || undefined
  );
}

function columnsOf(trans: TranslationBundle): IColumn[] {
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
      minor: true,
      order: replica => replica.node ?? '',
      cell: replica => replica.node
    },
    {
      key: 'pid',
      label: trans.__('PID'),
      number: true,
      minor: true,
      of: 'machine',
      order: replica => replica.pid ?? -1,
      cell: replica => replica.pid
    },
    {
      key: 'devices',
      label: trans.__('GPUs'),
      number: true,
      minor: true,
      has: replica => deviceCount(replica) > 0,
      order: deviceCount,
      cell: replica => replica.devices.join(', ') || deviceCount(replica)
    },
    {
      key: 'restarts',
      label: trans.__('Restarts'),
      number: true,
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
      minor: true,
      of: 'cluster',
      has: replica => replica.pod?.ip != null,
      order: replica => replica.pod?.ip ?? '',
      cell: replica => replica.pod?.ip
    },
    {
      key: 'pod-age',
      label: trans.__('Age'),
      number: true,
      of: 'cluster',
      order: replica =>
        replica.pod === null ? -1 : serverNow() - replica.pod.created_at,
      cell: replica =>
        replica.pod && <Age time={replica.pod.created_at} trans={trans} />
    },
    {
      key: 'started',
      label: trans.__('Started'),
      number: true,
      minor: true,
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
      number: true,
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
      minor: true,
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
      wide: true,
      minor: true,
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

function deviceCount({ devices, pod }: Replica): number {
  return devices.length || (pod?.device?.count ?? 0);
}

/** “0 – 3”, “5”, or “0, 4, 8” where they are not in a row. */
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
    : ranks.join(', ');
}

/** kubectl's word as one of our icons. */
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
      // “Init:Error”, “ErrImagePull”, “CrashLoopBackOff”, “CreateContainerConfigError” …
      return /Err|BackOff/.test(replica.status) ? 'failed' : 'pending';
  }
}
