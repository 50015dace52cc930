/** Widths of the columns, and which columns fit. */
import { ITableColumn } from '../model/columns';

/** Width of the column of names, at least, and of the columns around the others, in px. */
export const NAME_WIDTH = 160;
export const CHECK_WIDTH = 44;
export const ACTIONS_WIDTH = 40;

/** Below this width in px, the table shows the name, the status and one metric. */
const NARROW = 760;

const WIDTHS: Partial<Record<ITableColumn['kind'], number>> = {
  status: 210,
  job: 130,
  started: 124,
  duration: 84,
  folder: 170,
  curve: 112,
  tags: 130,
  note: 180
};

/** Return the width of a column in px. It depends on the heading alone, so that columns do not move while rows scroll. */
export function columnWidth(column: ITableColumn): number {
  const known = WIDTHS[column.kind];
  if (known !== undefined) {
    return known;
  }
  const least = column.kind === 'metric' ? 104 : column.isNumber ? 72 : 96;
  return Math.min(220, Math.max(least, 36 + 7.2 * column.name.length));
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
  if (width === 0 || width >= NARROW) {
    return columns;
  }
  const metrics = columns.filter(({ kind }) => kind === 'metric');
  const metric = metrics.find(({ key }) => key === sorted) ?? metrics[0];
  return columns.filter(
    column => column.kind === 'status' || column === metric
  );
}
