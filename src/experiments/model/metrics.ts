/** Values of metrics: the best, the last, the step of the best, and the value at a step. */
import { RunMetric } from '../../api/types';
import { Goal } from '../types';
import { numberOf } from '../../common/filter/parse';

/** The value of a metric that a column shows. `at` is the value at a step that the user names. */
export type MetricMode = 'best' | 'last' | 'step' | 'at';

/** Return the value of a metric; null if there is none. */
export function metricValue(
  metric: RunMetric | undefined,
  mode: Exclude<MetricMode, 'at'>,
  goal: Goal
): number | null {
  if (!metric) {
    return null;
  }
  if (mode === 'last' || goal === null) {
    return mode === 'step' ? metric.last_step : numberOf(metric.last);
  }
  if (mode === 'step') {
    return goal === 'min' ? metric.min_step : metric.max_step;
  }
  const best = goal === 'min' ? metric.min : metric.max;
  // Without a finite value, the last one is shown as it is.
  return best ?? numberOf(metric.last);
}

/** Return true if a value is better than another one. Values that are not finite are never better. */
export function isBetter(value: number, than: number, goal: Goal): boolean {
  return (
    Number.isFinite(value) &&
    (!Number.isFinite(than) || (goal === 'min' ? value < than : value > than))
  );
}
