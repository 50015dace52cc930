/** The table of runs. Only the rows near the visible part are in the document. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { WindowedTable } from '../../../ui/table/WindowedTable';
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
import { IKeyActions, runKeys } from './runKeys';

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

/** Rows and columns of one rendering of the grid. */
interface IDrawn {
  rows: readonly TableRow[];
  columns: readonly ITableColumn[];
  best: ReadonlyMap<string, string>;
  metric: ITableColumn | undefined;
}

/** A grid of runs that is one tab stop: arrows move between cells, and keys act on the run of the focused cell. */
export function RunsTable(props: IRunsTableProps): React.JSX.Element {
  const { model, actions, width, trans } = props;
  const { runs, selection, view } = model;
  const hold = React.useCallback(
    (isHeld: boolean) => model.hold(isHeld),
    [model]
  );
  const { rows, columns, best, metric } = useLater(model, width);
  const shared = React.useMemo(() => sharedNames(rows), [rows]);
  const keys = React.useMemo(() => rows.map(({ key }) => key), [rows]);
  const heights = React.useMemo(() => rows.map(() => ROW), [rows]);
  const bestOf = useBest(best);
  const count = runs.filter(({ id }) => selection.ids.has(id)).length;
  const widths = columns.map(column => columnWidth(column, width));
  const allWidths = [CHECK_WIDTH, null, ...widths, ACTIONS_WIDTH];
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
    <WindowedTable
      label={trans.__('Runs')}
      className="jp-t9k-Runs"
      role="grid"
      isMultiselectable
      rows={rows}
      keys={keys}
      heights={heights}
      widths={allWidths}
      minWidth={allWidths.reduce<number>(
        (sum, each) => sum + (each ?? nameWidth(width)),
        0
      )}
      head={
        <Head
          columns={columns}
          order={view.order}
          onOrder={order => model.change({ order })}
          selected={count === 0 ? false : count === runs.length ? true : null}
          onSelectAll={isSelected => select(runs, isSelected)}
          onMenu={actions.openColumnMenu}
          trans={trans}
        />
      }
      renderRow={renderRow}
      rowKeys={runKeys(rows, actions)}
      onHold={hold}
    />
  );
}

/**
 * Return what the grid draws. It follows the model in a rendering that gives way to input, since a new order
 * replaces all rows.
 */
function useLater(model: ExperimentsModel, width: number): IDrawn {
  const { rows, best, view, metric } = model;
  const { columns: shown } = model;
  const columns = React.useMemo(
    () => fittingColumns(shown, view.order.key, width),
    [shown, view.order.key, width]
  );
  const current = React.useMemo(
    () => ({ rows, columns, best, metric }),
    [rows, columns, best, metric]
  );
  return React.useDeferredValue(current);
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
