/** The table of runs. Only the rows near the visible part are in the document. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useGridFocus } from '../../../common/grid/useGridFocus';
import { useWindow } from '../../../common/grid/useWindow';
import { ITableColumn } from '../../model/columns';
import { ExperimentsModel } from '../../model/experiments';
import { sharedNames, TableRow } from '../../model/rows';
import { RunRow as IRow } from '../../../api/types';
import { Head } from './Head';
import {
  ACTIONS_WIDTH,
  CHECK_WIDTH,
  columnWidth,
  fittingColumns,
  nameWidth
} from './layout';
import { GroupRow, IRowActions, RunRow } from './RunRow';
import { IKeyActions, useRunKeys } from './useRunKeys';

/** Heights in px at the default font size; the style sheet has the same numbers. */
const ROW = 28;

/** Actions of the table. The object is the same in all renderings. */
export interface ITableActions extends IRowActions, IKeyActions {
  openColumnMenu(column: ITableColumn, x: number, y: number): void;
}

interface IRunsTableProps {
  model: ExperimentsModel;
  actions: ITableActions;
  /** Width of the view in px. */
  width: number;
  trans: TranslationBundle;
}

/** A grid of runs that is one tab stop: arrows move between cells, and keys act on the run of the focused cell. */
export function RunsTable(props: IRunsTableProps): React.JSX.Element {
  const { model, actions, width, trans } = props;
  const { rows, runs, selection, best, view, metric } = model;
  const focus = useGridFocus();
  const [isPointed, setPointed] = React.useState(false);
  const isHeld = isPointed || focus.inside === 'body';
  React.useLayoutEffect(() => model.hold(isHeld), [model, isHeld]);
  React.useEffect(() => () => model.hold(false), [model]);
  const columns = React.useMemo(
    () => fittingColumns(model.columns, view.order.key, width),
    [model.columns, view.order.key, width]
  );
  const shared = React.useMemo(() => sharedNames(rows), [rows]);
  const keys = React.useMemo(() => rows.map(({ key }) => key), [rows]);
  const heights = React.useMemo(() => rows.map(() => ROW), [rows]);
  const list = useWindow(keys, heights);
  const onKeyDown = useRunKeys(model, actions, list.reveal, focus.props.ref);
  const [first, last] = list.range;
  const bestOf = useBest(best);
  const count = runs.filter(({ id }) => selection.ids.has(id)).length;
  const total = columns.reduce(
    (sum, column) => sum + columnWidth(column, width),
    0
  );
  const renderRow = (row: TableRow, index: number): React.JSX.Element =>
    row.kind === 'group' ? (
      <GroupRow
        key={row.key}
        group={row.group}
        isOpen={row.isOpen}
        index={index}
        span={columns.length + 3}
        metric={metric}
        selected={selection.ids}
        onToggle={label => model.toggleGroup(label)}
        onSelect={(members, isSelected) => select(members, isSelected)}
        trans={trans}
      />
    ) : (
      <RunRow
        key={row.key}
        run={row.run}
        index={index}
        columns={columns}
        isSelected={selection.ids.has(row.run.id)}
        hasSuffix={shared.has(row.run.name)}
        best={bestOf.get(row.run.id) ?? ''}
        actions={actions}
        trans={trans}
      />
    );
  const select = (members: readonly IRow[], isSelected: boolean): void => {
    const ids = members.map(({ id }) => id);
    model.selection = model.selection.set(ids, isSelected);
  };
  return (
    <div
      className="jp-t9k-Grid jp-t9k-Runs"
      ref={list.ref}
      onScroll={list.onScroll}
    >
      <table
        className="jp-t9k-Table"
        role="grid"
        aria-label={trans.__('Runs')}
        aria-rowcount={rows.length + 1}
        aria-multiselectable
        style={{
          minWidth: total + nameWidth(width) + CHECK_WIDTH + ACTIONS_WIDTH
        }}
        {...focus.props}
        onKeyDown={event => {
          onKeyDown(event);
          if (!event.defaultPrevented) {
            focus.props.onKeyDown(event);
          }
        }}
      >
        <colgroup>
          <col style={{ width: CHECK_WIDTH }} />
          <col />
          {columns.map(column => (
            <col
              key={column.key}
              style={{ width: columnWidth(column, width) }}
            />
          ))}
          <col style={{ width: ACTIONS_WIDTH }} />
        </colgroup>
        <Head
          columns={columns}
          order={view.order}
          onOrder={order => model.change({ order })}
          selected={count === 0 ? false : count === runs.length ? true : null}
          onSelectAll={isSelected => select(runs, isSelected)}
          onMenu={actions.openColumnMenu}
          trans={trans}
        />
        <tbody
          onPointerEnter={() => setPointed(true)}
          onPointerLeave={() => setPointed(false)}
        >
          <Space height={list.offsets[first]} />
          {rows
            .slice(first, last)
            .map((row, index) => renderRow(row, first + index))}
          <Space height={list.offsets[rows.length] - list.offsets[last]} />
        </tbody>
      </table>
    </div>
  );
}

/** Return the keys of the columns in which each run is the best. */
function useBest(
  best: ReadonlyMap<string, string>
): ReadonlyMap<string, string> {
  return React.useMemo(() => {
    const keys = new Map<string, string>();
    best.forEach((id, key) => keys.set(id, `${keys.get(id) ?? ''}${key}\n`));
    return keys;
  }, [best]);
}

/** Empty row with the height of the rows that are not in the document. */
function Space({ height }: { height: number }): React.JSX.Element | null {
  return height > 0 ? (
    <tr aria-hidden className="jp-t9k-Table-space">
      <td style={{ height }} />
    </tr>
  ) : null;
}
