/** Widths of the columns, and which columns fit. */
import { ITableColumn } from '../../model/columns';

/** Width of the columns around the others, in px. */
export const CHECK_WIDTH = 36;
export const ACTIONS_WIDTH = 40;

/** Below this width in px, the table shows the name, the status and one metric. */
const NARROW = 760;

const WIDTHS: Partial<Record<ITableColumn['kind'], number>> = {
  status: 144,
  job: 110,
  started: 108,
  duration: 80,
  folder: 170,
  curve: 104,
  tags: 84,
  labels: 130,
  note: 180
};

/** Return the least width of the column of names in a table of a width, in px. */
export function nameWidth(width: number): number {
  return isNarrow(width) ? 110 : 150;
}

/**
 * Return the width of a column in px. It depends on the heading alone, so that columns do not move while rows scroll.
 *
 * @param width - Width of the table in px; 0 before it is measured.
 */
export function columnWidth(column: ITableColumn, width: number): number {
  if (column.kind === 'status' && isNarrow(width)) {
    return 104;
  }
  const known = WIDTHS[column.kind];
  if (known !== undefined) {
    return known;
  }
  const least = column.kind === 'metric' ? 96 : column.isNumber ? 64 : 90;
  const more = column.step === null ? 0 : 30 + 6 * String(column.step).length;
  return Math.min(260, Math.max(least, 26 + 7.4 * column.name.length + more));
}

/**
 * Return the columns that are shown at a width.
 *
 * @param sorted - Key of the column by which the rows are sorted.
 * @param width - Width of the table in px; 0 before it is measured.
 */
export function fittingColumns(
  columns: readonly ITableColumn[],
  sorted: string,
  width: number
): readonly ITableColumn[] {
  if (!isNarrow(width)) {
    return columns;
  }
  const metrics = columns.filter(({ kind }) => kind === 'metric');
  const metric = metrics.find(({ key }) => key === sorted) ?? metrics[0];
  return columns.filter(
    column => column.kind === 'status' || column === metric
  );
}

function isNarrow(width: number): boolean {
  return width > 0 && width < NARROW;
}
