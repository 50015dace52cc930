/** The best value of a metric. */
import { finite } from '../../charts/numbers';
import { RunMetric } from '../../../api/types';
import { Goal } from '../../types';
import { IChartMetric } from './metricGroups';

/** Types of metrics by which models are chosen. */
const VALIDATION = /^(val|valid|validation|validate|eval|evaluation)$/i;
/** Types of metrics of the final test. */
const TEST = /^test(ing)?$/i;

/**
 * Return the metric of a chart whose best value the chart marks: that of the validation, or the last one that is not
 * of a test. Values of a test are the best of nothing, because no model is chosen by them.
 */
export function markedMetric(
  metrics: readonly IChartMetric[]
): IChartMetric | undefined {
  const others = metrics.filter(({ type }) => !TEST.test(type));
  return (
    others.find(({ type }) => VALIDATION.test(type)) ??
    others[others.length - 1]
  );
}

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
