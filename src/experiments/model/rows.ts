/** Rows of the table: runs in order, in groups, with the best values. */
import { RunRow } from '../../api/types';
import { CellValue, ITableColumn } from './columns';
import {
  collate,
  compareCodes,
  CompareTexts,
  sortKey,
  textOrder
} from '../../common/grid/textOrder';
import { isBetter } from './metrics';
import { IOrder } from './view';

/** A group of runs. */
export interface IGroup {
  /** Value that the runs share; null for runs without a value. */
  label: string | null;
  runs: readonly RunRow[];
  /** Best and mean value of the first metric; null if no run has a finite value. */
  best: number | null;
  mean: number | null;
}

/** A row of the table. */
export type TableRow =
  | { kind: 'group'; key: string; group: IGroup; isOpen: boolean }
  | { kind: 'run'; key: string; run: RunRow };

/** Return the runs in order. Runs without a value come last. */
export function sortRuns(
  runs: readonly RunRow[],
  column: ITableColumn | undefined,
  order: IOrder
): RunRow[] {
  if (!column) {
    return [...runs];
  }
  const sign = order.down ? -1 : 1;
  const { values, compare } = textOrder(runs.map(run => column.value(run)));
  const names = runs.map(nameKey);
  const compareNames = names.includes(null) ? collate : compareCodes;
  return runs
    .map((run, index) => ({
      run,
      index,
      value: values[index],
      name: compareNames === collate ? run.name : (names[index] ?? '')
    }))
    .sort(
      (a, b) =>
        compareValues(a.value, b.value, sign, compare) ||
        compareNames(a.name, b.name) ||
        a.index - b.index
    )
    .map(({ run }) => run);
}

const NAME_KEYS = new WeakMap<RunRow, string | null>();

function nameKey(run: RunRow): string | null {
  let key = NAME_KEYS.get(run);
  if (key === undefined) {
    key = sortKey(run.name);
    NAME_KEYS.set(run, key);
  }
  return key;
}

function compareValues(
  a: CellValue,
  b: CellValue,
  sign: number,
  compareTexts: CompareTexts
): number {
  const [isA, isB] = [hasValue(a), hasValue(b)];
  if (!isA || !isB) {
    return Number(isB) - Number(isA);
  }
  if (typeof a === 'number' && typeof b === 'number') {
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  }
  if (typeof a !== typeof b) {
    return typeof a === 'number' ? -1 : typeof b === 'number' ? 1 : 0;
  }
  return typeof a === 'string' && typeof b === 'string'
    ? sign * compareTexts(a, b)
    : sign * collate(String(a), String(b));
}

function hasValue(value: CellValue): boolean {
  return value !== null && !Number.isNaN(value);
}

/**
 * Return the runs of each group, in the order of the first run of each.
 *
 * @param labelsOf - Returns the groups of a run; a run without any is in the last group.
 * @param metric - Column whose best and mean value the groups show.
 */
export function groupRuns(
  runs: readonly RunRow[],
  labelsOf: (run: RunRow) => readonly string[],
  metric: ITableColumn | undefined
): IGroup[] {
  const groups = new Map<string | null, RunRow[]>();
  for (const run of runs) {
    const labels = labelsOf(run);
    for (const label of labels.length > 0 ? labels : [null]) {
      const group = groups.get(label);
      if (group) {
        group.push(run);
      } else {
        groups.set(label, [run]);
      }
    }
  }
  const rest = groups.get(null);
  if (rest) {
    groups.delete(null);
    groups.set(null, rest);
  }
  return [...groups].map(([label, members]) => ({
    label,
    runs: members,
    ...summaryOf(members, metric)
  }));
}

function summaryOf(
  runs: readonly RunRow[],
  metric: ITableColumn | undefined
): { best: number | null; mean: number | null } {
  const values = runs
    .map(run => metric?.value(run))
    .filter((value): value is number => Number.isFinite(value));
  if (!metric || values.length === 0) {
    return { best: null, mean: null };
  }
  const best = values.reduce((known, value) =>
    isBetter(value, known, metric.goal) ? value : known
  );
  return {
    best: metric.goal === null ? null : best,
    mean: values.reduce((sum, value) => sum + value, 0) / values.length
  };
}

/** Return the rows of groups. A run in several groups has a row in each. */
export function rowsOfGroups(
  groups: readonly IGroup[],
  isFolded: (label: string | null) => boolean
): TableRow[] {
  return groups.flatMap((group): TableRow[] => {
    const key = groupKey(group.label);
    const isOpen = !isFolded(group.label);
    const head: TableRow = { kind: 'group', key, group, isOpen };
    return isOpen
      ? [
          head,
          ...group.runs.map((run): TableRow => {
            return { kind: 'run', key: `${key}/${run.id}`, run };
          })
        ]
      : [head];
  });
}

/** Return the key of a group's row. */
export function groupKey(label: string | null): string {
  return label === null ? 'rest' : `group:${label}`;
}

/** Return the rows of runs without groups. */
export function rowsOfRuns(runs: readonly RunRow[]): TableRow[] {
  return runs.map(run => ({ kind: 'run', key: run.id, run }));
}

/** Return the names that several of the shown runs have. */
export function sharedNames(rows: readonly TableRow[]): ReadonlySet<string> {
  const owners = new Map<string, string>();
  const shared = new Set<string>();
  for (const row of rows) {
    if (row.kind === 'run') {
      const { id, name } = row.run;
      // A run may have a row in several groups.
      if ((owners.get(name) ?? id) !== id) {
        shared.add(name);
      }
      owners.set(name, id);
    }
  }
  return shared;
}

/** Return the ids of the runs with the best value of each metric column, by the column's key. */
export function bestRuns(
  runs: readonly RunRow[],
  columns: readonly ITableColumn[]
): Map<string, string> {
  const best = new Map<string, string>();
  for (const column of columns) {
    const { kind, mode, goal, key } = column;
    if (kind !== 'metric' || mode === 'step' || goal === null) {
      continue;
    }
    let least = NaN;
    for (const run of runs) {
      const value = column.value(run);
      if (typeof value === 'number' && isBetter(value, least, goal)) {
        least = value;
        best.set(key, run.id);
      }
    }
  }
  return best;
}

/**
 * Return runs in an earlier order, so that rows do not move under the pointer. New runs come last.
 *
 * @param held - The runs in the order of before.
 */
export function keepOrder(
  runs: readonly RunRow[],
  held: readonly RunRow[]
): RunRow[] {
  const places = new Map(held.map(({ id }, index) => [id, index]));
  const place = ({ id }: RunRow): number => places.get(id) ?? Infinity;
  return [...runs].sort((a, b) => {
    const [one, other] = [place(a), place(b)];
    return one === other ? 0 : one - other;
  });
}
