/** Runs as the server would send them. */
import { RunColumn, RunMetric, RunRow, RunTable } from '../../../src/api/types';
import { finite } from '../../../src/experiments/charts/numbers';

/** A metric whose values go from one number to another. */
export function someMetric(
  last: RunMetric['last'],
  changes: Partial<RunMetric> = {}
): RunMetric {
  const extreme = finite(last);
  return {
    last,
    last_step: 100,
    min: extreme,
    min_step: 100,
    max: extreme,
    max_step: 100,
    count: 100,
    curve: [],
    ...changes
  };
}

/** A complete run of the recorder. */
export function someRun(name: string, changes: Partial<RunRow> = {}): RunRow {
  return {
    id: `id-${name}`,
    name,
    suffix: '',
    origin: 'recorder',
    status: 'complete',
    sentence: 'Complete',
    path: `eurosat/.em/runs/${name}`,
    job: null,
    started_at: 1_700_000_000,
    ended_at: 1_700_000_060,
    seconds: 60,
    epoch: null,
    parameters: {},
    metrics: {},
    environment: {},
    labels: [],
    tags: [],
    note: '',
    archived: false,
    ...changes
  };
}

/** The columns that some runs have. */
export function columnsOf(runs: readonly RunRow[]): RunColumn[] {
  const groups = ['parameters', 'metrics', 'environment'] as const;
  return groups.flatMap(group => {
    const names = new Set(runs.flatMap(run => Object.keys(run[group])));
    return [...names].map((name): RunColumn => {
      const having = runs.filter(run => Object.hasOwn(run[group], name));
      const values = having.map(run => run[group][name]);
      return {
        name,
        group,
        kind:
          group === 'metrics' || typeof values[0] === 'number'
            ? 'number'
            : 'text',
        runs: having.length,
        distinct: group === 'metrics' ? 0 : new Set(values).size,
        goal:
          group !== 'metrics'
            ? null
            : /loss/.test(name)
              ? 'min'
              : /acc/.test(name)
                ? 'max'
                : null
      };
    });
  });
}

/** An answer with all runs. */
export function someTable(
  runs: RunRow[],
  changes: Partial<RunTable> = {}
): RunTable {
  return {
    revision: 1,
    complete: true,
    scanning: false,
    runs,
    removed: [],
    columns: columnsOf(runs),
    unreadable: [],
    unreadable_count: 0,
    left_out: null,
    index_problem: null,
    ...changes
  };
}
