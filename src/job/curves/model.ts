/** Curves of a job's metrics. */
import { HttpClient } from '../../api/http';
import { JobCurve, JobCurves } from '../../api/types';

/** Request for the curves of a job. */
export class CurvesClient extends HttpClient {
  /** Return the curves of the metrics that a job reported. */
  curves(id: string): Promise<JobCurves> {
    return this._send('GET', ['jobs', id, 'curves']);
  }
}

/** Return the curve of a metric; the curve may be named with its folder: `train/loss`. Null if there is none. */
export function curveOf(
  curves: readonly JobCurve[],
  name: string
): JobCurve | null {
  const wanted = name.toLowerCase();
  const names = curves.map(curve => curve.name.toLowerCase());
  const same = names.indexOf(wanted);
  const ending = curves.filter((_, at) => names[at].endsWith(`/${wanted}`));
  return same >= 0 ? curves[same] : ending.length === 1 ? ending[0] : null;
}

/**
 * Return the path of a curve.
 *
 * @param curve - The curve.
 * @param width - Width in px.
 * @param height - Height in px.
 */
export function curvePath(
  { x, values }: Pick<JobCurve, 'x' | 'values'>,
  width: number,
  height: number
): string {
  const [left, right] = [x[0], x[x.length - 1]];
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const across = (step: number): number =>
    right === left ? 0 : ((step - left) / (right - left)) * (width - 4) + 2;
  const down = (value: number): number =>
    greatest === least
      ? height / 2
      : 2 + (1 - (value - least) / (greatest - least)) * (height - 4);
  return values
    .map(
      (value, at) =>
        `${at ? 'L' : 'M'}${across(x[at]).toFixed(1)} ${down(value).toFixed(1)}`
    )
    .join('');
}
