/** Jobs as rows of a CSV file. */
import { JobSummary } from '../../api/types';
import { IJobColumn } from './columns';

const TIMES: ReadonlySet<string> = new Set(['created', 'started', 'ended']);

/**
 * Return jobs as rows of a CSV file, with a row of names. Times are in ISO 8601, durations in seconds.
 *
 * @param jobs - The jobs.
 * @param columns - The shown columns.
 * @param now - Seconds since the epoch.
 */
export function rowsOfJobs(
  jobs: readonly JobSummary[],
  columns: readonly IJobColumn[],
  now: number
): (string | number | null)[][] {
  const values = new Set(
    jobs.flatMap(({ sweep }) => Object.keys(sweep?.values ?? {}))
  );
  const cell = (job: JobSummary, column: IJobColumn) => {
    const value = column.value(job, now);
    if (column.kind === 'state') {
      return job.reason?.sentence
        ? `${String(value)}: ${job.reason.sentence}`
        : value;
    }
    if (column.kind === 'node') {
      return job.nodes.join(' ');
    }
    return TIMES.has(column.kind) && typeof value === 'number'
      ? new Date(value * 1000).toISOString()
      : value;
  };
  return [
    ['name', 'id', ...columns.map(headOf), ...values],
    ...jobs.map(job => [
      job.name,
      job.id,
      ...columns.map(column => cell(job, column)),
      ...[...values].map(name => job.sweep?.values?.[name] ?? null)
    ])
  ];
}

function headOf({ kind, name }: IJobColumn): string {
  const heads: Partial<Record<IJobColumn['kind'], string>> = {
    hours: 'gpu_hours',
    waited: 'waited_seconds',
    duration: 'seconds'
  };
  return name || (heads[kind] ?? kind);
}
