/** Sections of a comparison's table with their titles. */
import { TranslationBundle } from '@jupyterlab/translation';
import { formatDuration } from '../../common/format';
import { RunRow } from '../../api/types';
import {
  differ,
  environmentRows,
  GoalOf,
  IDifference,
  metricRows,
  parameterRows
} from './differences';
import { ITitledSection } from './report';

/**
 * Return the sections of a comparison: parameters, metrics, facts about the runs.
 *
 * @param runs - The runs.
 * @param goalOf - Returns the direction of a metric.
 * @param showEqual - True to return also rows whose values are equal.
 * @param trans - Texts.
 */
export function sectionsOf(
  runs: readonly RunRow[],
  goalOf: GoalOf,
  showEqual: boolean,
  trans: TranslationBundle
): ITitledSection[] {
  const wanted = (rows: IDifference[]): IDifference[] =>
    rows.filter(({ differs }) => differs || showEqual || runs.length < 2);
  const parameters = parameterRows(runs);
  const different = parameters.filter(({ differs }) => differs).length;
  const durations = runs.map(({ seconds }) =>
    seconds === null ? undefined : formatDuration(seconds, trans)
  );
  const facts: IDifference[] = [
    {
      name: trans.__('Duration'),
      values: durations,
      best: [],
      differs: differ(durations)
    },
    ...environmentRows(runs)
  ];
  return [
    {
      key: 'parameters',
      title: trans.__('Parameters'),
      caption: trans.__('%1 of %2 differ', different, parameters.length),
      rows: wanted(parameters)
    },
    {
      key: 'metrics',
      title: trans.__('Metrics'),
      caption: trans.__(
        'best value of each run; the last value if no direction is known'
      ),
      rows: wanted(metricRows(runs, goalOf))
    },
    { key: 'run', title: trans.__('Run'), caption: '', rows: wanted(facts) }
  ];
}
