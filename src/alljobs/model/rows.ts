/** Rows of the table: jobs in order, in groups and in sweeps. */
import { JobSummary } from '../../api/types';
import { CompareTexts, textOrder } from '../../common/grid/textOrder';
import { isActive } from '../../jobs/phase';
import { compareMembers } from '../../jobs/sweepOrder';
import { CellValue, IJobColumn, ownerOf } from './columns';
import { isProblem } from './facts';
import { GroupKey, IOrder } from './view';

/** The head of a group of jobs. */
export interface IGroupRow {
  kind: 'group';
  key: string;
  /** The day's midnight in seconds since the epoch, or the owner. */
  label: number | string;
  jobs: readonly JobSummary[];
  isOpen: boolean;
}

/** A sweep, whose jobs follow if it is open. */
export interface ISweepRow {
  kind: 'sweep';
  key: string;
  id: string;
  name: string;
  /** The shown jobs of the sweep in this group. */
  jobs: readonly JobSummary[];
  isOpen: boolean;
}

/** A job. */
export interface IJobRow {
  kind: 'job';
  key: string;
  job: JobSummary;
  /** True if the job is below the row of its sweep. */
  isMember: boolean;
}

/** A row of the table. */
export type TableRow = IGroupRow | ISweepRow | IJobRow;

/**
 * Return the jobs in order; jobs without a value come last.
 *
 * @param column - The column of the order; undefined for the default order.
 * @param now - Seconds since the epoch.
 */
export function sortJobs(
  jobs: readonly JobSummary[],
  column: IJobColumn | undefined,
  order: IOrder,
  now: number
): JobSummary[] {
  const value = column
    ? (job: JobSummary) => column.value(job, now)
    : (job: JobSummary) => (isProblem(job) ? 2 : isActive(job) ? 1 : 0);
  const sign = column && !order.down ? 1 : -1;
  const { values, compare } = textOrder(jobs.map(value));
  return jobs
    .map((job, index) => ({ job, value: values[index] }))
    .sort(
      (a, b) =>
        compareValues(a.value, b.value, sign, compare) ||
        b.job.created_at - a.job.created_at ||
        (a.job.id < b.job.id ? -1 : 1)
    )
    .map(({ job }) => job);
}

function compareValues(
  a: CellValue,
  b: CellValue,
  sign: number,
  compareTexts: CompareTexts
): number {
  if (a === null || b === null) {
    return Number(a === null) - Number(b === null);
  }
  if (typeof a === 'number' && typeof b === 'number') {
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  }
  return sign * compareTexts(String(a), String(b));
}

/**
 * Return the rows of the table.
 *
 * @param jobs - The jobs in order.
 * @param group - Group of the rows.
 * @param folded - Keys of folded groups and sweeps.
 * @param byNumber - True to sort the jobs of a sweep by their numbers.
 */
export function rowsOf(
  jobs: readonly JobSummary[],
  group: GroupKey,
  folded: ReadonlySet<string>,
  byNumber: boolean
): TableRow[] {
  const rows: TableRow[] = [];
  if (group === '') {
    jobs.forEach(job => rows.push(jobRow(job, false)));
  } else if (group === 'sweep') {
    pushTops(rows, jobs, '', folded, byNumber);
  } else {
    for (const [label, members] of groupsOf(jobs, group)) {
      const key = `${group}:${label}`;
      const isOpen = !folded.has(key);
      rows.push({ kind: 'group', key, label, jobs: members, isOpen });
      if (isOpen) {
        pushTops(rows, members, key, folded, byNumber);
      }
    }
  }
  return rows;
}

/** Return the jobs of each group: days, the latest first, or owners in the order of their first job. */
function groupsOf(
  jobs: readonly JobSummary[],
  group: 'day' | 'owner'
): [number | string, JobSummary[]][] {
  const groups = new Map<number | string, JobSummary[]>();
  const dayOf = dayFinder();
  for (const job of jobs) {
    const label =
      group === 'day' ? dayOf(job.created_at) : (ownerOf(job) ?? '');
    const members = groups.get(label);
    if (members) {
      members.push(job);
    } else {
      groups.set(label, [job]);
    }
  }
  const found = [...groups];
  return group === 'day'
    ? found.sort(([a], [b]) => Number(b) - Number(a))
    : found;
}

/** Return a function that returns the midnight before a time. It keeps each day, since dates are slow. */
function dayFinder(): (time: number) => number {
  const hours = new Map<number, number>();
  return time => {
    const hour = Math.floor(time / 3600);
    let day = hours.get(hour);
    if (day === undefined) {
      const date = new Date(time * 1000);
      date.setHours(0, 0, 0, 0);
      day = date.getTime() / 1000;
      hours.set(hour, day);
    }
    return day;
  };
}

/** Add the rows of jobs; a sweep with several jobs is one row, which its jobs follow. */
function pushTops(
  rows: TableRow[],
  jobs: readonly JobSummary[],
  group: string,
  folded: ReadonlySet<string>,
  byNumber: boolean
): void {
  const sweeps = new Map<string, JobSummary[]>();
  for (const job of jobs) {
    if (job.sweep) {
      const members = sweeps.get(job.sweep.id);
      if (members) {
        members.push(job);
      } else {
        sweeps.set(job.sweep.id, [job]);
      }
    }
  }
  for (const job of jobs) {
    const members = job.sweep ? (sweeps.get(job.sweep.id) ?? []) : [];
    if (!job.sweep || members.length < 2) {
      rows.push(jobRow(job, false));
    } else if (members[0] === job) {
      const { id, name } = job.sweep;
      const key = sweepKey(group, id);
      const isOpen = !folded.has(key);
      rows.push({ kind: 'sweep', key, id, name, jobs: members, isOpen });
      if (isOpen) {
        const ordered = byNumber ? [...members].sort(compareMembers) : members;
        ordered.forEach(member => rows.push(jobRow(member, true)));
      }
    }
  }
}

function sweepKey(group: string, id: string): string {
  return `${group}/sweep:${id}`;
}

function jobRow(job: JobSummary, isMember: boolean): IJobRow {
  return { kind: 'job', key: job.id, job, isMember };
}

/**
 * Return jobs in an earlier order, so that rows do not move under the pointer. New jobs come first.
 *
 * @param held - Ids of the jobs in the order of before.
 */
export function keepOrder(
  jobs: readonly JobSummary[],
  held: ReadonlyMap<string, number>
): JobSummary[] {
  const place = ({ id }: JobSummary): number => held.get(id) ?? -1;
  return jobs
    .map((job, index) => ({ job, index, at: place(job) }))
    .sort((a, b) => a.at - b.at || a.index - b.index)
    .map(({ job }) => job);
}
