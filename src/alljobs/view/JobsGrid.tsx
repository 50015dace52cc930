/** The grid of jobs. Only the rows near the visible part are in the document. */
import * as React from 'react';
import { JobSummary } from '../../api/types';
import { useGridFocus } from '../../common/grid/useGridFocus';
import { useWindow } from '../../common/grid/useWindow';
import { TableRow } from '../model/rows';
import { JobTableModel } from '../model/table';
import { ICellContext } from './cells';
import { Head } from './Head';
import {
  ACTIONS_WIDTH,
  CHECK_WIDTH,
  columnWidth,
  fittingColumns,
  nameWidth
} from './layout';
import { GroupTableRow, IRowActions, JobTableRow, SweepTableRow } from './Rows';
import { IKeyActions, useJobKeys } from './useJobKeys';

/** Heights in px at the default font size; the style sheet has the same numbers. */
const ROW = 25;
const GROUP = 27;

/** Actions of the grid. The object is the same in all renderings. */
export type IGridActions = IRowActions & IKeyActions;

interface IJobsGridProps extends ICellContext {
  model: JobTableModel;
  rows: readonly TableRow[];
  actions: IGridActions;
  /** Width of the view in px. */
  width: number;
}

/** A grid of jobs that is one tab stop: arrows move between cells, and keys act on the job of the focused cell. */
export function JobsGrid(props: IJobsGridProps): React.JSX.Element {
  const { model, rows, actions, width, engines, hasNamespaces, trans } = props;
  const { shown, selection, view } = model;
  const focus = useGridFocus();
  const [isPointed, setPointed] = React.useState(false);
  const isHeld = isPointed || focus.inside === 'body';
  React.useLayoutEffect(() => model.hold(isHeld), [model, isHeld]);
  React.useEffect(() => () => model.hold(false), [model]);
  const columns = React.useMemo(
    () => fittingColumns(model.columns, view.order.key, width),
    [model.columns, view.order.key, width]
  );
  const em = useFontScale();
  const keys = React.useMemo(() => rows.map(({ key }) => key), [rows]);
  const heights = React.useMemo(
    () =>
      rows.map(({ kind }) => Math.round(em * (kind === 'group' ? GROUP : ROW))),
    [rows, em]
  );
  const list = useWindow(keys, heights);
  const onKeyDown = useJobKeys(model, actions, list.reveal, focus.props.ref);
  const [first, last] = list.range;
  const count = model.selected.length;
  const { group } = view;
  const total = columns.reduce(
    (sum, column) => sum + columnWidth(column, width),
    nameWidth(width) + CHECK_WIDTH + ACTIONS_WIDTH
  );
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
    <div
      className="jp-t9k-Grid jp-t9k-Runs jp-t9k-AllJobs-grid"
      ref={list.ref}
      onScroll={list.onScroll}
    >
      <table
        className="jp-t9k-Table"
        role="treegrid"
        aria-label={trans.__('Jobs')}
        aria-rowcount={rows.length + 1}
        aria-multiselectable
        style={{ minWidth: total }}
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
          selected={count === 0 ? false : count === shown.length ? true : null}
          onSelectAll={isSelected => actions.selectAll(shown, isSelected)}
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

/** Empty row with the height of the rows that are not in the document. */
function Space({ height }: { height: number }): React.JSX.Element | null {
  return height > 0 ? (
    <tr aria-hidden className="jp-t9k-Table-space">
      <td style={{ height }} />
    </tr>
  ) : null;
}
