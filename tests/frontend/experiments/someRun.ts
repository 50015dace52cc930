/** Runs for tests. */
import { RunMetric, RunRow } from '../../../src/api/types';

/** Return a complete run. */
export function someRun(changes: Partial<RunRow> = {}): RunRow {
  return {
    id: 'id',
    name: 'run',
    suffix: '',
    origin: 'recorder',
    status: 'complete',
    sentence: 'Complete',
    path: '.em/runs/run',
    job: null,
    started_at: 0,
    ended_at: 60,
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

/** Return the summary of a metric whose values lie between two numbers. */
export function someMetric(min: number, max: number): RunMetric {
  const steps = { last_step: 9, min_step: 1, max_step: 2 };
  return { last: max, min, max, ...steps, count: 9, curve: [] };
}
