/** The grid of jobs. Only the rows near the visible part are in the document. */
import * as React from 'react';
import { JobSummary } from '../../api/types';
import { WindowedTable } from '../../ui/table/WindowedTable';
import { IJobColumn } from '../model/columns';
import { gpusOf } from '../model/facts';
import { TableRow } from '../model/rows';
import { JobTableModel } from '../model/table';
import { GroupKey } from '../model/view';
import { ICellContext } from './cells';
import { Head } from './Head';
import {
  ACTIONS_WIDTH,
  CHECK_WIDTH,
  columnWidth,
  fittingColumns,
  tableWidth
} from './layout';
import { GroupTableRow, IRowActions, JobTableRow, SweepTableRow } from './Rows';
import { IKeyActions, jobKeys } from './jobKeys';

/** Heights in px at the default font size; the style sheet has the same numbers. */
const ROW = 25;
const GROUP = 27;

/** Actions of the grid. The object is the same in all renderings. */
export type IGridActions = IRowActions & IKeyActions;

interface IJobsGridProps extends ICellContext {
  model: JobTableModel;
  actions: IGridActions;
  /** Width of the view in px. */
  width: number;
}

/** A grid of jobs that is one tab stop: arrows move between cells, and keys act on the job of the focused cell. */
export function JobsGrid(props: IJobsGridProps): React.JSX.Element {
  const { model, actions, engines, hasNamespaces, trans } = props;
  const { shown, selection, view } = model;
  const { rows, group, columns, width } = useDrawn(model, props.width);
  const hold = React.useCallback(
    (isHeld: boolean) => model.hold(isHeld),
    [model]
  );
  const em = useFontScale();
  const keys = React.useMemo(() => rows.map(({ key }) => key), [rows]);
  const heights = React.useMemo(
    () =>
      rows.map(({ kind }) => Math.round(em * (kind === 'group' ? GROUP : ROW))),
    [rows, em]
  );
  const count = model.selected.length;
  const widths = columns.map(column => columnWidth(column, width));
  const shared = { columns, actions, engines, hasNamespaces, trans };
  const renderRow = (row: TableRow, index: number): React.JSX.Element => {
    const level = group === 'day' || group === 'owner' ? 2 : 1;
    switch (row.kind) {
      case 'group':
        return (
          <GroupTableRow
            key={row.key}
            {...shared}
            row={row}
            index={index}
            selected={selection.ids}
          />
        );
      case 'sweep':
        return (
          <SweepTableRow
            key={row.key}
            {...shared}
            row={row}
            level={level}
            index={index}
            selected={selection.ids}
          />
        );
      case 'job':
        return (
          <JobTableRow
            key={row.key}
            {...shared}
            job={row.job}
            isMember={row.isMember}
            level={level + Number(row.isMember)}
            index={index}
            isSelected={selection.ids.has(row.job.id)}
          />
        );
    }
  };
  return (
    <WindowedTable
      label={trans.__('Jobs')}
      className="jp-t9k-Runs jp-t9k-AllJobs-grid"
      role="treegrid"
      isMultiselectable
      rows={rows}
      keys={keys}
      heights={heights}
      widths={[CHECK_WIDTH, null, ...widths, ACTIONS_WIDTH]}
      minWidth={tableWidth(columns, width)}
      head={
        <Head
          columns={columns}
          order={view.order}
          onOrder={order => model.change({ order })}
          selected={count === 0 ? false : count === shown.length ? true : null}
          onSelectAll={isSelected => actions.selectAll(shown, isSelected)}
          trans={trans}
        />
      }
      renderRow={renderRow}
      rowKeys={jobKeys(model, rows, actions)}
      onHold={hold}
    />
  );
}

/** Content of the grid. */
interface IDrawn {
  rows: readonly TableRow[];
  group: GroupKey;
  columns: readonly IJobColumn[];
  width: number;
}

/**
 * Return the content of the grid. It follows the model in a rendering that gives way to input, since a new order
 * replaces all rows.
 */
function useDrawn(
  { shown, rows, columns: all, view }: JobTableModel,
  width: number
): IDrawn {
  const hasGpus = React.useMemo(
    () => shown.some(job => gpusOf(job) !== null),
    [shown]
  );
  const columns = React.useMemo(
    () => fittingColumns(all, view.order.key, width, hasGpus),
    [all, view.order.key, width, hasGpus]
  );
  const { group } = view;
  const current = React.useMemo(
    () => ({ rows, group, columns, width }),
    [rows, group, columns, width]
  );
  return React.useDeferredValue(current);
}

/** Return JupyterLab's font size in relation to the default of 13 px. */
function useFontScale(): number {
  return React.useMemo(() => {
    const size = getComputedStyle(document.body).getPropertyValue(
      '--jp-ui-font-size1'
    );
    return Math.max(1, (parseFloat(size) || 13) / 13);
  }, []);
}

/** Return true if jobs are in several namespaces. */
export function inSeveralNamespaces(jobs: readonly JobSummary[]): boolean {
  const found = jobs.find(({ namespace }) => namespace)?.namespace;
  return jobs.some(({ namespace }) => namespace && namespace !== found);
}
