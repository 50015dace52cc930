import { TranslationBundle } from '@jupyterlab/translation';
import {
  caretDownEmptyThinIcon,
  caretUpEmptyThinIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { Replica } from '../../api/types';
import { logIcon } from '../../icons';
import { serverNow } from '../../model/clock';
import { formatExitCode } from '../../model/format';
import { JobState } from '../../model/phase';
import { IconButton } from '../Buttons';
import { PhaseIcon } from '../PhaseIcon';
import { Duration, Time } from '../Time';
import { useWindow } from '../useWindow';
import { useGridFocus } from './useGridFocus';

/** Height of a row in px at the default font size, until it is measured. */
const ROW = 29;

interface IColumn {
  key: string;
  label: string;
  number?: boolean;
  /** Left out on a narrow tab. */
  minor?: boolean;
  /** Left out where no replica has it. */
  has?: (replica: Replica) => boolean;
  order: (replica: Replica) => number | string;
  cell: (replica: Replica) => React.ReactNode;
}

interface IReplicasProps {
  replicas: readonly Replica[];
  trans: TranslationBundle;
  showLog(replica: Replica): void;
}

/** One row for each replica, in kubectl's words. */
export function Replicas(props: IReplicasProps): React.JSX.Element {
  const { replicas, trans } = props;
  const columns = columnsOf(trans).filter(
    ({ has }) => !has || replicas.some(has)
  );
  const [sort, setSort] = React.useState({ key: 'name', down: false });
  const grid = useGridFocus();
  const body = React.useRef<HTMLTableSectionElement>(null);
  const [height, setHeight] = React.useState(ROW);
  const by = columns.find(column => column.key === sort.key) ?? columns[0];
  const sorted = [...replicas].sort(
    (a, b) => compare(by.order(a), by.order(b)) * (sort.down ? -1 : 1)
  );
  const list = useWindow(
    sorted.map(replica => replica.name),
    sorted.map(() => height)
  );
  React.useLayoutEffect(() => {
    const row = body.current?.querySelector('tr:not([aria-hidden])');
    const measured = row?.getBoundingClientRect().height ?? 0;
    if (measured > 0 && Math.abs(measured - height) > 0.1) {
      setHeight(measured); // follows the font size of the lab
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
    <div className="jp-t9k-Replicas" ref={list.ref} onScroll={list.onScroll}>
      <table
        className="jp-t9k-Table"
        role="grid"
        aria-label={trans.__('Replicas')}
        aria-rowcount={replicas.length + 1}
        {...grid}
      >
        <thead>
          <tr>
            {columns.map(column => (
              <th
                key={column.key}
                className={cellClass(column)}
                aria-sort={
                  column !== by
                    ? 'none'
                    : sort.down
                      ? 'descending'
                      : 'ascending'
                }
              >
                <button
                  type="button"
                  tabIndex={-1}
                  onClick={() =>
                    setSort({
                      key: column.key,
                      down: column === by ? !sort.down : false
                    })
                  }
                >
                  {column.label}
                  {column === by &&
                    (sort.down ? (
                      <caretDownEmptyThinIcon.react tag="span" />
                    ) : (
                      <caretUpEmptyThinIcon.react tag="span" />
                    ))}
                </button>
              </th>
            ))}
            <th>
              <span className="jp-t9k-visuallyHidden">{trans.__('Log')}</span>
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          <Space height={list.offsets[first]} />
          {sorted.slice(first, last).map((replica, index) => (
            <tr key={replica.name} aria-rowindex={first + index + 2}>
              {columns.map(column => (
                <td
                  key={column.key}
                  className={cellClass(column)}
                  role="gridcell"
                  tabIndex={-1}
                >
                  {column.cell(replica)}
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
          ))}
          <Space height={list.offsets[sorted.length] - list.offsets[last]} />
        </tbody>
      </table>
    </div>
  );
}

/** In the place of rows that are not in the document. */
function Space({ height }: { height: number }): React.JSX.Element | null {
  return height > 0 ? (
    <tr aria-hidden className="jp-t9k-Table-space">
      <td style={{ height }} />
    </tr>
  ) : null;
}

function cellClass({ number, minor }: IColumn): string | undefined {
  return (
    [number && 'jp-t9k-Table-number', minor && 'jp-t9k-Table-minor']
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
      order: replica => replica.pid ?? -1,
      cell: replica => replica.pid
    },
    {
      key: 'devices',
      label: trans.__('GPUs'),
      number: true,
      minor: true,
      has: replica => replica.devices.length > 0,
      order: replica => replica.devices.length,
      cell: replica => replica.devices.join(', ')
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
      key: 'started',
      label: trans.__('Started'),
      number: true,
      minor: true,
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
      order: replica => replica.exit_code ?? -1,
      cell: replica =>
        replica.exit_code === null
          ? ''
          : (replica.attempts[replica.attempts.length - 1]?.ended ??
            formatExitCode(replica.exit_code, trans))
    }
  ];
}

function compare(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a === b
      ? 0
      : a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
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
    case 'Error':
    case 'Failed':
    case 'OOMKilled':
    case 'CrashLoopBackOff':
      return 'failed';
    case 'Restarting':
      return 'resuming';
    case 'Terminated':
    case 'Terminating':
    case 'Stopped':
      return 'stopped';
    default:
      return 'pending';
  }
}
