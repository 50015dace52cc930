/** Jobs as rows of a CSV file. */
import { JobSummary } from '../../api/types';
import { IJobColumn } from './columns';

type Value = string | number | null;

const TIMES: ReadonlySet<string> = new Set(['created', 'started', 'ended']);

/** Decimal places of numbers: milliseconds of durations. Metrics are exported as they were reported. */
const DECIMALS = 3;

/**
 * Return jobs as rows of a CSV file, with a row of names. Times are in ISO 8601, durations in seconds. The column of
 * the state is followed by one of the reason.
 *
 * @param jobs - The jobs.
 * @param columns - The shown columns.
 * @param now - Seconds since the epoch.
 */
export function rowsOfJobs(
  jobs: readonly JobSummary[],
  columns: readonly IJobColumn[],
  now: number
): Value[][] {
  const values = new Set(
    jobs.flatMap(({ sweep }) => Object.keys(sweep?.values ?? {}))
  );
  const cells = (job: JobSummary, column: IJobColumn): Value[] => {
    const value = column.value(job, now);
    if (column.kind === 'state') {
      return [value, job.reason?.sentence ?? null];
    }
    if (column.kind === 'node') {
      return [job.nodes.join(' ')];
    }
    if (typeof value !== 'number' || column.kind === 'metric') {
      return [value];
    }
    return TIMES.has(column.kind)
      ? [new Date(value * 1000).toISOString()]
      : [Number(value.toFixed(DECIMALS))];
  };
  const heads = ['name', 'id', ...columns.flatMap(headsOf)];
  return [
    [...heads, ...[...values].map(name => valueHead(name, heads))],
    ...jobs.map(job => [
      job.name,
      job.id,
      ...columns.flatMap(column => cells(job, column)),
      ...[...values].map(name => job.sweep?.values?.[name] ?? null)
    ])
  ];
}

function headsOf({ kind, name }: IJobColumn): string[] {
  const heads: Partial<Record<IJobColumn['kind'], string[]>> = {
    state: ['state', 'reason'],
    hours: ['gpu_hours'],
    waited: ['waited_seconds'],
    duration: ['seconds']
  };
  return name ? [name] : (heads[kind] ?? [kind]);
}

/** Return the head of a value of sweeps: “lr” for “--lr”, since spreadsheets read a leading hyphen as a formula. */
function valueHead(name: string, others: readonly string[]): string {
  const head = name.replace(/^-+/, '') || name;
  return others.includes(head) ? `sweep ${head}` : head;
}
