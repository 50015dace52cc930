/** Values of metrics: the best, the last, and the step of the best. */
import { RunMetric } from '../../api/types';
import { Goal } from '../types';
import { numberOf } from '../../common/filter/parse';

/** The value of a metric that a column shows. */
export type MetricMode = 'best' | 'last' | 'step';

/** Return the value of a metric; null if there is none. */
export function metricValue(
  metric: RunMetric | undefined,
  mode: MetricMode,
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
