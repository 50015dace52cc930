/** Table of many rows that can be sorted, opened and navigated by keyboard. */

import * as React from 'react';
import { directionOf, SortHeading } from './SortHeading';
import { WindowedTable } from './WindowedTable';

// The collator is created once: `localeCompare` without one takes about a hundred times as long.
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Height of a row in px at the default font size, used until a row is measured. */
const ROW = 29;

/** Sort order of a table. */
export interface ISort {
  key: string;
  down: boolean;
}

/** A column of a grid. */
export interface IColumn<Row> {
  key: string;
  label: string;
  /** Tooltip of the column's heading. */
  title?: string;
  className?: string;
  /**
   * Value by which rows are sorted. A column without it cannot be sorted, and only screen readers read its heading.
   */
  order?: (row: Row) => number | string;
  /** Tooltip of a row's cell. */
  titleOf?: (row: Row) => string;
  cell: (row: Row) => React.ReactNode;
}

/** State and actions of rows that can be opened to show details. */
export interface IOpening<Row> {
  canOpen(row: Row): boolean;
  isOpen(row: Row): boolean;
  toggle(row: Row): void;
  /** Return the details, which are shown below an open row. */
  detail(row: Row): React.ReactNode;
}

interface IGridProps<Row> {
  label: string;
  className: string;
  /** Rows in the order of display. Their names are unique. */
  rows: readonly Row[];
  columns: readonly IColumn<Row>[];
  sort: ISort;
  onSort(sort: ISort): void;
  opening?: IOpening<Row>;
  /** Called with true when the pointer or the focus enters the rows, and with false when both have left them. */
  onHold?(held: boolean): void;
  /** Selector of an element; if it has the focus when the grid appears, the grid takes the focus. */
  takesFocusOf?: string;
}

/** A table whose rows can be sorted by its columns and opened, see `WindowedTable`. */
export function Grid<Row extends { name: string }>(
  props: IGridProps<Row>
): React.JSX.Element {
  const { rows, columns, sort, opening } = props;
  const body = React.useRef<HTMLTableSectionElement>(null);
  const height = useRowHeight(body);
  const details = useDetailHeights(body);
  const keys = React.useMemo(() => rows.map(({ name }) => name), [rows]);
  const heights = React.useMemo(
    () =>
      rows.map(
        row =>
          height + (opening?.isOpen(row) ? (details.get(row.name) ?? 0) : 0)
      ),
    [rows, height, opening, details]
  );
  return (
    <WindowedTable
      label={props.label}
      className={props.className}
      role="grid"
      rows={rows}
      keys={keys}
      heights={heights}
      head={
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(column => (
              <Head
                key={column.key}
                column={column}
                sort={sort}
                onSort={props.onSort}
              />
            ))}
          </tr>
        </thead>
      }
      renderRow={(row, index) => (
        <GridRow
          key={row.name}
          row={row}
          index={index}
          columns={columns}
          opening={opening}
        />
      )}
      onHold={props.onHold}
      takesFocusOf={props.takesFocusOf}
      body={body}
    />
  );
}

/** A column's heading. The first click sorts the table by the column, and the next click reverses the order. */
function Head<Row>({
  column,
  sort,
  onSort
}: {
  column: IColumn<Row>;
  sort: ISort;
  onSort(sort: ISort): void;
}): React.JSX.Element {
  const { key, label, title, className } = column;
  if (!column.order) {
    return (
      <th>
        <span className="jp-t9k-visuallyHidden">{label}</span>
      </th>
    );
  }
  return (
    <SortHeading
      title={title}
      className={className}
      sorted={directionOf(sort, key)}
      onSort={() => onSort({ key, down: key === sort.key && !sort.down })}
    >
      {label}
    </SortHeading>
  );
}

/** A row, followed by its details if it is open. */
function GridRow<Row extends { name: string }>({
  row,
  index,
  columns,
  opening
}: {
  row: Row;
  index: number;
  columns: readonly IColumn<Row>[];
  opening: IOpening<Row> | undefined;
}): React.JSX.Element {
  const opens = opening?.canOpen(row) ?? false;
  return (
    <>
      <tr
        aria-rowindex={index + 2}
        data-opens={opens || undefined}
        onClick={event => {
          if (opens && !(event.target as HTMLElement).closest('button')) {
            opening?.toggle(row);
          }
        }}
      >
        {columns.map(column => (
          <td
            key={column.key}
            className={column.className}
            role="gridcell"
            tabIndex={-1}
            title={column.titleOf?.(row) || undefined}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
      {opening?.isOpen(row) && (
        <tr data-detail={row.name} className="jp-t9k-Grid-detail">
          <td role="gridcell" tabIndex={-1} colSpan={columns.length}>
            {opening.detail(row)}
          </td>
        </tr>
      )}
    </>
  );
}

/**
 * Return the height of a table's rows in px, measured on the first row in the document.
 *
 * @param body - The table's body.
 */
function useRowHeight(body: React.RefObject<HTMLElement>): number {
  const [height, setHeight] = React.useState(ROW);
  React.useLayoutEffect(() => {
    const row = body.current?.querySelector('tr:not([aria-hidden])');
    const measured = row?.getBoundingClientRect().height ?? 0;
    if (measured > 0 && Math.abs(measured - height) > 0.1) {
      setHeight(measured); // the height depends on JupyterLab's font size
    }
  });
  return height;
}

/** Return the last measured heights of the details in px, by the names of their rows. */
function useDetailHeights(
  body: React.RefObject<HTMLElement>
): ReadonlyMap<string, number> {
  const [heights, setHeights] = React.useState<ReadonlyMap<string, number>>(
    new Map()
  );
  React.useLayoutEffect(() => {
    const found = new Map(heights);
    for (const detail of body.current?.querySelectorAll<HTMLElement>(
      'tr[data-detail]'
    ) ?? []) {
      const { height } = detail.getBoundingClientRect();
      found.set(detail.dataset.detail ?? '', height);
    }
    if ([...found].some(([name, size]) => heights.get(name) !== size)) {
      setHeights(found);
    }
  });
  return heights;
}

/** Compare two cells for sorting: numbers by value, and texts with numeric parts by the values of these parts. */
export function compareCells(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a === b
      ? 0
      : a - b
    : COLLATOR.compare(String(a), String(b));
}
