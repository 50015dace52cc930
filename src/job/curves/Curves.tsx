/** Curves of a job's metrics: small in the header, larger in the overview. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobCurve, JobCurves } from '../../api/types';
import { formatCount, formatMetric } from '../../common/format';
import { curvePath } from './model';

/** Size of a curve in the header, in px. */
const SMALL = { width: 132, height: 24 };
/** Size of a curve in the overview, in units of its view box. */
const LARGE = { width: 400, height: 96 };
/** Number of curves in the overview. */
const MOST_CURVES = 4;

/** A small curve. Its last value stands beside it for screen readers. */
export const Sparkline = React.memo(({ curve }: { curve: JobCurve }) => (
  <svg
    className="jp-t9k-Curve"
    {...SMALL}
    viewBox={`0 0 ${SMALL.width} ${SMALL.height}`}
    aria-hidden
  >
    <path d={curvePath(curve, SMALL.width, SMALL.height)} />
  </svg>
));
Sparkline.displayName = 'Sparkline';

/** Section of the overview with the curves of losses first; nothing without curves. */
export function CurvesSection({
  curves,
  trans
}: {
  curves: JobCurves | null;
  trans: TranslationBundle;
}): React.JSX.Element | null {
  if (!curves?.curves.length) {
    return null;
  }
  return (
    <section className="jp-t9k-Section">
      <h3>{trans.__('Curves')}</h3>
      <div className="jp-t9k-Curves">
        {curves.curves.slice(0, MOST_CURVES).map(curve => (
          <figure key={curve.name}>
            <figcaption>
              <span>{curve.name}</span>
              <strong>
                {formatMetric(curve.values[curve.values.length - 1])}
              </strong>
            </figcaption>
            <svg
              className="jp-t9k-Curve"
              viewBox={`0 0 ${LARGE.width} ${LARGE.height}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={curveText(curve, trans)}
            >
              <path d={curvePath(curve, LARGE.width, LARGE.height)} />
            </svg>
            <p>{rangeText(curve, curves.of, trans)}</p>
          </figure>
        ))}
      </div>
    </section>
  );
}

function curveText(
  { name, values }: JobCurve,
  trans: TranslationBundle
): string {
  return trans.__(
    '%1: first value %2, last value %3, least %4, greatest %5',
    name,
    ...[
      values[0],
      values[values.length - 1],
      Math.min(...values),
      Math.max(...values)
    ].map(formatMetric)
  );
}

function rangeText(
  { x, values }: JobCurve,
  of: JobCurves['of'],
  trans: TranslationBundle
): string {
  const [first, last] = [x[0], x[x.length - 1]].map(formatCount);
  const [least, greatest] = [Math.min(...values), Math.max(...values)].map(
    formatMetric
  );
  return of === 'step'
    ? trans.__('%1 to %2, steps %3 to %4', least, greatest, first, last)
    : trans.__('%1 to %2, reports %3 to %4', least, greatest, first, last);
}
