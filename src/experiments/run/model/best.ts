/** The best value of a metric. */
import { finite } from '../../charts/numbers';
import { RunMetric } from '../../../api/types';
import { Goal } from '../../types';

/** Return the best value of a metric with its step; null if its direction is unknown or no value is finite. */
export function bestOf(
  metric: RunMetric | undefined,
  goal: Goal
): { value: number; step: number | null } | null {
  if (!metric || goal === null) {
    return null;
  }
  const value = finite(goal === 'min' ? metric.min : metric.max);
  const step = goal === 'min' ? metric.min_step : metric.max_step;
  return value === null ? null : { value, step };
}
