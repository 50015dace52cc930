/** Curves of the compared runs, one chart for each metric. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useSignal } from '../../common/hooks';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { Chart } from '../charts/Chart';
import { ChartsToolbar } from '../charts/ChartsToolbar';
import { ILine, spreadOf } from '../charts/drawing';
import { leftOutText, positionText } from '../charts/text';
import { Curve, RunRow } from '../../api/types';
import { GoalOf } from './differences';
import { CompareModel, MOST_SHOWN } from './model';
import { listed } from '../../common/format';

/** Charts that are shown without a fold. */
const MOST_OPEN = 4;
/** Points of a mean of many runs. */
const MEAN_POINTS = 200;

interface ICurvesPaneProps {
  model: CompareModel;
  runs: readonly RunRow[];
  /** Names of runs by their ids. */
  labels: ReadonlyMap<string, string>;
  trans: TranslationBundle;
}

/** Overlaid curves. Of more than eight runs, the mean and the extremes are drawn. */
export function CurvesPane(props: ICurvesPaneProps): React.JSX.Element {
  const { model, runs, trans } = props;
  const { curves, line, look } = model;
  useSignal(line.changed);
  useSignal(line.zoomed);
  useSignal(curves.changed);
  const [isOpen, setIsOpen] = React.useState(false);
  const { common, partial } = metricsOf(runs, model.goalOf);
  // Without a metric that all runs have, the metrics of most runs are shown.
  const first = (common.length > 0 ? common : partial).slice(0, MOST_OPEN);
  const rest = [...common, ...partial].filter(name => !first.includes(name));
  const missing = rest.filter(name => partial.includes(name)).length;
  const chart = (metric: string): React.JSX.Element => (
    <MetricCurves key={metric} {...props} metric={metric} />
  );
  return (
    <div
      className="jp-t9k-CompareCurves"
      data-spread={runs.length > MOST_SHOWN || undefined}
    >
      <ChartsToolbar
        look={look}
        setLook={next => model.setLook({ ...look, ...next })}
        asTable={look.asTable}
        setAsTable={asTable => model.setLook({ ...look, asTable })}
        trans={trans}
      />
      <div className="jp-t9k-ReadingRow">
        {line.at === null ? (
          <span className="jp-t9k-secondary">{trans.__('Last values')}</span>
        ) : (
          <strong>{positionText(line.at, look.x, trans)}</strong>
        )}
        {line.range && (
          <LinkButton onClick={() => line.zoom(null)}>
            {trans.__('Show the whole range')}
          </LinkButton>
        )}
      </div>
      {curves.failure && (
        <Banner
          level="warning"
          title={trans.__('The curves could not be read.')}
          actions={
            <LinkButton onClick={() => curves.refresh()}>
              {trans.__('Try now')}
            </LinkButton>
          }
        >
          {curves.failure.message}
        </Banner>
      )}
      {curves.leftOut.map(({ runs: left, problem }, index) => (
        <Banner
          key={index}
          level="warning"
          title={trans._n(
            'The curves of %1 run are not shown.',
            'The curves of %1 runs are not shown.',
            left.length
          )}
          actions={
            <LinkButton onClick={() => curves.refresh()}>
              {trans.__('Try now')}
            </LinkButton>
          }
        >
          {problem}
        </Banner>
      ))}
      {runs.length > MOST_SHOWN && (
        <p className="jp-t9k-CompareCurves-note jp-t9k-secondary">
          {trans.__('Mean and extremes of %1 runs', runs.length)}
        </p>
      )}
      {common.length + partial.length === 0 && (
        <p className="jp-t9k-MetricsPane-none">
          {trans.__('The runs have no metrics.')}
        </p>
      )}
      <div className="jp-t9k-Charts">{first.map(chart)}</div>
      {rest.length > 0 && (
        <details
          className="jp-t9k-Fold"
          open={isOpen}
          onToggle={event => setIsOpen(event.currentTarget.open)}
        >
          <summary>
            <strong>
              {trans._n('%1 more metric', '%1 more metrics', rest.length)}
            </strong>{' '}
            <span className="jp-t9k-caption">
              {listed(rest.slice(0, 5))}
              {missing > 0 &&
                ` · ${trans._n(
                  '%1 that not all runs have',
                  '%1 that not all runs have',
                  missing
                )}`}
            </span>
          </summary>
          {isOpen && <div className="jp-t9k-Charts">{rest.map(chart)}</div>}
        </details>
      )}
    </div>
  );
}

/** Return the metrics that all runs have, those with a known direction and of validation first; and the others. */
function metricsOf(
  runs: readonly RunRow[],
  goalOf: GoalOf
): {
  common: string[];
  partial: string[];
} {
  const counts = new Map<string, number>();
  for (const { metrics } of runs) {
    for (const name of Object.keys(metrics)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const rank = (name: string): number =>
    (goalOf(name) === null ? 2 : 0) + (/^train/i.test(name) ? 1 : 0);
  const names = [...counts.keys()].sort((a, b) => rank(a) - rank(b));
  const isCommon = (name: string): boolean => counts.get(name) === runs.length;
  return {
    common: names.filter(isCommon),
    partial: names
      .filter(name => !isCommon(name))
      .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
  };
}

interface IMetricCurvesProps extends ICurvesPaneProps {
  metric: string;
}

/** Chart of one metric of all runs. */
function MetricCurves(props: IMetricCurvesProps): React.JSX.Element {
  const { model, runs, metric, trans } = props;
  const { curves, line, look } = model;
  useSignal(curves.changed);
  const found = curves.get(metric);
  const version = curves.version(metric);
  const names = runs.map(({ id }) => props.labels.get(id)).join('\n');
  const lines = React.useMemo(
    () => (found ? linesOf(props, found) : null),
    // the curves change with their version
    [model, version, names, look.x]
  );
  const onShown = React.useCallback(
    () => curves.show([metric]),
    [curves, metric]
  );
  const onWidth = React.useCallback(
    (width: number) => model.setWidth(width),
    [model]
  );
  return (
    <Chart
      title={metric}
      lines={lines}
      look={look}
      line={line}
      extent={look.x === 'time' ? null : curves.extent}
      caption={found && leftOutText(found, trans)}
      asTable={look.asTable}
      onShown={onShown}
      onWidth={onWidth}
      trans={trans}
    />
  );
}

function linesOf(
  { model, runs, labels, trans }: IMetricCurvesProps,
  curves: readonly Curve[]
): ILine[] {
  const isTime = model.look.x === 'time';
  const originOf = (curve: Curve): number =>
    isTime
      ? (runs.find(({ id }) => id === curve.run)?.started_at ?? curve.x[0] ?? 0)
      : 0;
  const mine = curves.filter(({ run }) => labels.has(run));
  if (runs.length > MOST_SHOWN) {
    const shifted = mine.map(curve => ({
      ...curve,
      x: curve.x.map(at => at - originOf(curve))
    }));
    const spread = spreadOf(shifted, MEAN_POINTS);
    const line = (label: string, curve: Curve, style: number): ILine => ({
      ...{ key: label, label, curve, style },
      origin: 0
    });
    return spread
      ? [
          line(trans.__('mean'), spread.mean, 0),
          line(trans.__('least'), spread.least, 2),
          line(trans.__('greatest'), spread.greatest, 1)
        ]
      : [];
  }
  return runs.flatMap(run => {
    const curve = mine.find(each => each.run === run.id);
    return curve
      ? [
          {
            key: run.id,
            label: labels.get(run.id) ?? run.name,
            curve,
            style: model.styleOf(run),
            origin: originOf(curve)
          }
        ]
      : [];
  });
}
