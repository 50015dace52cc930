/** Table of a job's replicas. */
import { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Replica, TerminalList, TerminalPlace } from '../../api/types';
import { IconButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { logIcon } from '../../ui/pageIcons';
import { compareCells, Grid, IColumn, IOpening } from '../../ui/table/Table';
import { replicaColumns } from './columns';
import { ReplicaDetail } from './ReplicaDetail';
import { TerminalButton } from './TerminalButton';

/** Props of `Replicas`. */
interface IReplicasProps {
  replicas: readonly Replica[];
  /** True if the replicas are pods, false if they are processes. */
  hasPods: boolean;
  trans: TranslationBundle;
  /** Where terminals can be opened; null until that is known. */
  terminals: TerminalList | null;
  /** Show the log of a replica. */
  showLog(replica: Replica): void;
  openTerminal(place: TerminalPlace): void;
  /** Search a replica for its ranks; return where terminals can be opened. */
  searchTerminals(replica: string): Promise<TerminalList>;
}

/**
 * Shows one row for each replica, with its status as kubectl writes it. Rows with more details can be opened.
 */
export function Replicas(props: IReplicasProps): React.JSX.Element {
  const { replicas, hasPods, trans } = props;
  const [sort, setSort] = React.useState({ key: 'name', down: false });
  const opening = useOpening(trans);
  const columns = replicaColumns(replicas, hasPods, trans);
  const by = columns.find(column => column.key === sort.key) ?? columns[0];
  const sorted = [...replicas].sort(
    (a, b) => compareCells(by.order(a), by.order(b)) * (sort.down ? -1 : 1)
  );
  if (replicas.length === 0) {
    return (
      <p className="jp-t9k-LogEmpty">
        {trans.__(
          'No replicas yet. Replicas appear here when they are created.'
        )}
      </p>
    );
  }
  const [name, ...others] = columns;
  const log: IColumn<Replica> = {
    key: 'log',
    label: trans.__('Log'),
    className: 'jp-t9k-Table-number',
    cell: replica => (
      <IconButton
        icon={logIcon}
        label={trans.__('Log of %1', replica.name)}
        tabIndex={-1}
        onClick={() => props.showLog(replica)}
      />
    )
  };
  const terminal: IColumn<Replica> = {
    key: 'terminal',
    label: trans.__('Terminal'),
    className: 'jp-t9k-Table-number',
    cell: replica => (
      <TerminalButton
        replica={replica}
        terminals={props.terminals}
        search={props.searchTerminals}
        open={props.openTerminal}
        trans={trans}
      />
    )
  };
  return (
    <Grid
      label={trans.__('Replicas')}
      className="jp-t9k-Replicas"
      rows={sorted}
      columns={[
        {
          ...name,
          cell: replica =>
            opening.canOpen(replica) ? (
              <Opener replica={replica} opening={opening} />
            ) : (
              replica.name
            )
        },
        ...others,
        log,
        terminal
      ]}
      sort={{ ...sort, key: by.key }}
      onSort={setSort}
      opening={opening}
    />
  );
}

/** Return the state of the opened rows. A row can be opened if the replica has a pod or a reason. */
function useOpening(trans: TranslationBundle): IOpening<Replica> {
  const [open, setOpen] = React.useState<ReadonlySet<string>>(new Set());
  return React.useMemo(() => {
    const canOpen = ({ pod, reason }: Replica): boolean =>
      pod !== null || reason !== null;
    return {
      canOpen,
      isOpen: replica => open.has(replica.name) && canOpen(replica),
      toggle: ({ name }) => {
        const changed = new Set(open);
        if (!changed.delete(name)) {
          changed.add(name);
        }
        setOpen(changed);
      },
      detail: replica => <ReplicaDetail replica={replica} trans={trans} />
    };
  }, [open, trans]);
}

/** Button with a replica's name that opens its row. */
function Opener({
  replica,
  opening
}: {
  replica: Replica;
  opening: IOpening<Replica>;
}): React.JSX.Element {
  const isOpen = opening.isOpen(replica);
  const caret = isOpen ? caretDownIcon : caretRightIcon;
  return (
    <button
      type="button"
      className="jp-t9k-Replicas-opener"
      tabIndex={-1}
      aria-expanded={isOpen}
      onClick={() => opening.toggle(replica)}
    >
      <Icon of={caret} />
      {replica.name}
    </button>
  );
}
