/** Values of metrics: the best, the last, and the step of the best. */
import { Goal, IMetricSummary } from '../types';
import { numberOf } from '../../common/filter/parse';

/** The value of a metric that a column shows. */
export type MetricMode = 'best' | 'last' | 'step';

/** Return the value of a metric; null if there is none. */
export function metricValue(
  metric: IMetricSummary | undefined,
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
  return numberOf(goal === 'min' ? metric.min : metric.max);
}

/** Return true if a value is better than another one. NaN is never better. */
export function isBetter(value: number, than: number, goal: Goal): boolean {
  return (
    !Number.isNaN(value) &&
    (Number.isNaN(than) || (goal === 'min' ? value < than : value > than))
  );
}
