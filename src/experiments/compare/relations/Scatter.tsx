/** Scatter plot of a parameter against a metric. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useWidth } from '../../../common/hooks';
import { formatScalar, formatValue } from '../../charts/numbers';
import { colourName } from '../../charts/palette';
import { RunRow } from '../../../api/types';
import { Scalar } from '../../types';
import { IAxis, labelsOf, positionOf } from './axes';
import { CompareModel } from '../model';
import { listed } from '../../../common/format';

/** Sizes in px. */
const HEIGHT = 240;
const LEFT = 72;
const RIGHT = 24;
const TOP = 12;
const BOTTOM = 32;
/** Points of other runs. */
const MOST_OTHERS = 2000;
/** Shapes of points, so that colour is not the only signal. */
const SHAPES = [
  'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z',
  'M-4.5 -4.5h9v9h-9z',
  'M0 -6l5.5 10h-11z',
  'M0 -6l6 6l-6 6l-6 -6z',
  'M0 6l5.5 -10h-11z',
  'M-1.5 -5.5h3v4h4v3h-4v4h-3v-4h-4v-3h4z',
  'M-5.5 -2h11v4h-11z',
  'M-2 -5.5h4v11h-4z'
];

interface IScatterProps {
  model: Pick<CompareModel, 'others' | 'styleOf'>;
  runs: readonly RunRow[];
  labels: ReadonlyMap<string, string>;
  parameters: readonly IAxis[];
  metrics: readonly IAxis[];
  trans: TranslationBundle;
}

/** A point for each run; the compared runs have the colours of their curves. */
export function Scatter(props: IScatterProps): React.JSX.Element {
  const { parameters, metrics, trans } = props;
  const [parameter, setParameter] = React.useState('');
  const [metric, setMetric] = React.useState('');
  const host = React.useRef<HTMLDivElement>(null);
  const width = Math.floor(useWidth(host));
  const x = parameters.find(({ key }) => key === parameter) ?? parameters[0];
  const found = metrics.find(({ key }) => key === metric) ?? metrics[0];
  if (!x || !found) {
    return (
      <p className="jp-t9k-MetricsPane-none">
        {trans.__('The runs have no parameter that differs, or no metric.')}
      </p>
    );
  }
  // The axis of a metric is upright here: less is below.
  const y = { ...found, isTurned: false };
  return (
    <div ref={host} className="jp-t9k-Scatter">
      <div className="jp-t9k-Scatter-choices">
        <Choice
          label={trans.__('Parameter')}
          axes={parameters}
          value={x.key}
          onChange={setParameter}
        />
        <Choice
          label={trans.__('Metric')}
          axes={metrics}
          value={y.key}
          onChange={setMetric}
        />
      </div>
      {width > LEFT + RIGHT && <Points {...props} x={x} y={y} width={width} />}
    </div>
  );
}

function Choice(props: {
  label: string;
  axes: readonly IAxis[];
  value: string;
  onChange(key: string): void;
}): React.JSX.Element {
  return (
    <label>
      {props.label}{' '}
      <select
        value={props.value}
        onChange={({ target }) => props.onChange(target.value)}
      >
        {props.axes.map(({ key, name }) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The plot. */
function Points(
  props: IScatterProps & { x: IAxis; y: IAxis; width: number }
): React.JSX.Element {
  const { model, runs, labels, x, y, width, trans } = props;
  const xAt = (position: number): number =>
    LEFT + 12 + (width - LEFT - RIGHT - 24) * position;
  const yAt = (position: number): number =>
    TOP + (HEIGHT - TOP - BOTTOM) * (1 - position);
  const placeOf = (run: RunRow): string | null => {
    const [left, top] = [positionOf(x, run), positionOf(y, run)];
    return left === null || top === null
      ? null
      : `translate(${xAt(left).toFixed(1)} ${yAt(top).toFixed(1)})`;
  };
  const point = (run: RunRow, name: string, style: number | null) => {
    const place = placeOf(run);
    return (
      place && (
        <path
          key={run.id}
          transform={place}
          d={SHAPES[(style ?? 0) % SHAPES.length]}
          className="jp-t9k-Scatter-point"
          style={
            style === null ? undefined : { fill: `var(${colourName(style)})` }
          }
        >
          <title>
            {trans.__(
              '%1: %2',
              name,
              listed([
                `${x.name} ${text(x.read(run))}`,
                `${y.name} ${text(y.read(run))}`
              ])
            )}
          </title>
        </path>
      )
    );
  };
  return (
    <svg
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={trans.__(
        '%1 by %2: %3',
        y.name,
        x.name,
        listed(
          runs.map(
            run =>
              `${labels.get(run.id)} ${text(x.read(run))} ${text(y.read(run))}`
          )
        )
      )}
    >
      {labelsOf(y).map(({ position, value }) => (
        <g key={position}>
          <line
            className="jp-t9k-Scatter-grid"
            x1={LEFT}
            x2={width - RIGHT}
            y1={yAt(position)}
            y2={yAt(position)}
          />
          <text x={LEFT - 8} y={yAt(position) + 4} textAnchor="end">
            {text(value)}
          </text>
        </g>
      ))}
      {labelsOf(x).map(({ position, value }) => (
        <text
          key={position}
          x={xAt(position)}
          y={HEIGHT - 10}
          textAnchor="middle"
        >
          {text(value)}
        </text>
      ))}
      {model.others
        .slice(0, MOST_OTHERS)
        .map(run => point(run, run.name, null))}
      {runs.map(run =>
        point(run, labels.get(run.id) ?? run.name, model.styleOf(run))
      )}
    </svg>
  );
}

function text(value: Scalar): string {
  return typeof value === 'number' ? formatValue(value) : formatScalar(value);
}
