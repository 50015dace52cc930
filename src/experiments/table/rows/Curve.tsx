/** Small curve of a metric in a row. */
import * as React from 'react';
import { numberOf } from '../../../common/filter/parse';
import { JsonNumber } from '../../types';

/** Size of a curve in px. */
const WIDTH = 88;
const HEIGHT = 20;

/** Draws values as a line. Values that are not finite are gaps. The values are in other columns for screen readers. */
export const Curve = React.memo(
  ({ values }: { values: readonly JsonNumber[] }) => (
    <svg
      className="jp-t9k-Runs-curve"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden
    >
      <path d={pathOf(values.map(value => numberOf(value) ?? NaN))} />
    </svg>
  )
);
Curve.displayName = 'Curve';

/** Return the path of a curve that fills the height. */
export function pathOf(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite);
  if (finite.length < 2) {
    return '';
  }
  const [least, greatest] = [Math.min(...finite), Math.max(...finite)];
  const x = (index: number): string =>
    (1 + (index * (WIDTH - 2)) / (values.length - 1)).toFixed(1);
  const y = (value: number): string =>
    greatest === least
      ? String(HEIGHT / 2)
      : (
          1.5 +
          (HEIGHT - 3) * (1 - (value - least) / (greatest - least))
        ).toFixed(1);
  let isGap = true;
  return values
    .map((value, index) => {
      if (!Number.isFinite(value)) {
        isGap = true;
        return '';
      }
      const command = `${isGap ? 'M' : 'L'}${x(index)} ${y(value)}`;
      isGap = false;
      return command;
    })
    .join('');
}
