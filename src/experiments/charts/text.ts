/** Texts of charts: axes, positions, and values that are not drawn. */
import { TranslationBundle } from '@jupyterlab/translation';
import { formatCount, formatDuration, sentences } from '../../common/format';
import { Curve } from '../../api/types';
import { XAxis } from '../types';
import { finite, formatValue } from './numbers';

/** Return the name of an x axis. */
export function axisName(x: XAxis, trans: TranslationBundle): string {
  switch (x) {
    case 'step':
      return trans.__('Step');
    case 'epoch':
      return trans.__('Epoch');
    case 'time':
      return trans.__('Time since start');
  }
}

/** Return a position on an x axis: “4 725”, “33 min”. */
export function axisText(
  at: number,
  x: XAxis,
  trans: TranslationBundle
): string {
  return x === 'time' ? formatDuration(at, trans) : formatValue(at);
}

/** Return the position of the reading line as a sentence part: “Step 4 725”, “33 min after the start”. */
export function positionText(
  at: number,
  x: XAxis,
  trans: TranslationBundle
): string {
  switch (x) {
    case 'step':
      return trans.__('Step %1', formatValue(at));
    case 'epoch':
      return trans.__('Epoch %1', formatValue(at));
    case 'time':
      return trans.__('%1 after the start', formatDuration(at, trans));
  }
}

/** Return sentences about values that are not drawn; empty if all values are drawn. */
export function leftOutText(
  curves: readonly Curve[],
  trans: TranslationBundle
): string {
  const said: string[] = [];
  const bad = curves.filter(({ not_finite }) => not_finite.count > 0);
  const count = bad.reduce((sum, { not_finite }) => sum + not_finite.count, 0);
  const steps = bad.flatMap(({ not_finite: { first_step, last_step } }) =>
    [first_step, last_step].map(finite).filter(step => step !== null)
  );
  if (count > 0) {
    const [first, last] = [Math.min(...steps), Math.max(...steps)];
    said.push(
      steps.length === 0
        ? trans._n(
            '%1 value was not a finite number: not drawn.',
            '%1 values were not finite numbers: not drawn.',
            count
          )
        : first === last
          ? trans._n(
              '%1 value was not a finite number, step %2: not drawn.',
              '%1 values were not finite numbers, step %2: not drawn.',
              count,
              formatCount(first)
            )
          : trans._n(
              '%1 value was not a finite number, steps %2 to %3: not drawn.',
              '%1 values were not finite numbers, steps %2 to %3: not drawn.',
              count,
              formatCount(first),
              formatCount(last)
            )
    );
  }
  if (curves.some(({ truncated }) => truncated)) {
    said.push(trans.__('The curve is not complete.'));
  }
  return sentences(said);
}
