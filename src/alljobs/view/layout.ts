/** Widths of the columns, and which columns fit. */
import { IJobColumn } from '../model/columns';

/** Widths of the columns around the others, in px. */
export const CHECK_WIDTH = 40;
export const ACTIONS_WIDTH = 92;

/** Below this width in px, the table shows the name and the state only. */
const SMALLEST = 480;

const WIDTHS: Partial<Record<IJobColumn['kind'], number>> = {
  progress: 96,
  owner: 84,
  where: 110,
  node: 120,
  queue: 96,
  gpus: 60,
  allocated: 84,
  created: 128,
  started: 128,
  ended: 128,
  waited: 104,
  duration: 104,
  hours: 84,
  restarts: 78
};

/** Columns in the order in which they hide when the width shrinks. */
const HIDES: readonly IJobColumn['kind'][] = [
  'waited',
  'where',
  'progress',
  'owner',
  'started',
  'metric',
  'duration',
  // Columns that only the user's choice shows.
  'queue',
  'created',
  'ended',
  'restarts',
  'allocated',
  'node',
  'hours',
  'gpus'
];

/** Columns that are empty without GPUs. */
const OF_GPUS: ReadonlySet<IJobColumn['kind']> = new Set([
  'gpus',
  'allocated',
  'hours'
]);

/** Return the least width of the column of names in a table of a width, in px. */
function nameWidth(width: number): number {
  return width < SMALLEST ? 110 : 180;
}

/**
 * Return the width of a column in px. It depends on the heading alone, so that columns do not move while rows scroll.
 *
 * @param width - Width of the table in px; 0 before it is measured.
 */
export function columnWidth(column: IJobColumn, width: number): number {
  if (column.kind === 'state') {
    return Math.round(Math.min(360, Math.max(130, width * 0.22)));
  }
  return (
    WIDTHS[column.kind] ??
    // Room for the best value of a sweep: “best 0.1353”.
    Math.min(160, Math.max(112, 32 + 7.2 * column.name.length))
  );
}

/** Return the least width of a table with some columns, in px. */
export function tableWidth(
  columns: readonly IJobColumn[],
  width: number
): number {
  return columns.reduce(
    (sum, column) => sum + columnWidth(column, width),
    nameWidth(width) + CHECK_WIDTH + ACTIONS_WIDTH
  );
}

/**
 * Return the columns that fit into a table.
 *
 * @param columns - The columns that the user chose.
 * @param sorted - Key of the column by which the rows are sorted; it hides last.
 * @param width - Width of the table in px; 0 before it is measured.
 * @param hasGpus - False if no job has GPUs: their empty columns hide first.
 */
export function fittingColumns(
  columns: readonly IJobColumn[],
  sorted: string,
  width: number,
  hasGpus = true
): readonly IJobColumn[] {
  if (width === 0) {
    return columns;
  }
  if (width < SMALLEST) {
    return columns.filter(({ kind }) => kind === 'state');
  }
  const shown = new Set(columns);
  const order = [...columns].sort((a, b) => {
    const rank = ({ kind, key }: IJobColumn): number =>
      kind === 'state'
        ? 200
        : key === sorted
          ? 100
          : !hasGpus && OF_GPUS.has(kind)
            ? -1
            : HIDES.indexOf(kind);
    return rank(a) - rank(b);
  });
  const total = (): number => tableWidth([...shown], width);
  for (const column of order) {
    if (total() <= width || column.kind === 'state') {
      break;
    }
    shown.delete(column);
  }
  return columns.filter(column => shown.has(column));
}
