/** Chart of the metrics of a run that share a name. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useSignal } from '../../common/hooks';
import { IMenuItem } from '../../common/menu';
import { Chart } from '../charts/Chart';
import { ILine } from '../charts/drawing';
import { formatValue } from '../charts/numbers';
import { IMark } from '../charts/plot';
import { Range } from '../charts/readingLine';
import { leftOutText } from '../charts/text';
import { bestOf, markedMetric } from './model/best';
import { IChartMetric, IChartOf } from './model/metricGroups';
import { RunModel } from './model/run';

interface IMetricChartProps {
  model: RunModel;
  chart: IChartOf;
  /** Types of all metrics; their order selects colours and dashes. */
  types: readonly string[];
  /** Save the values of metrics as a file. */
  saveValues(metrics: readonly string[]): void;
  trans: TranslationBundle;
}

/** A chart with one line for each type of a metric. */
export function MetricChart(props: IMetricChartProps): React.JSX.Element {
  const { model, chart, types, trans } = props;
  const { curves, line, look, origin } = model;
  useSignal(curves.changed);
  const names = chart.metrics.map(({ name }) => name);
  const key = JSON.stringify(names);
  const versions = names.map(name => curves.version(name)).join();
  const lines = React.useMemo(
    () => linesOf(model, chart.metrics, types),
    // the curves change with their versions
    [model, key, versions, origin, look.x, types]
  );
  const onShown = React.useCallback(
    () => curves.show(JSON.parse(key)),
    [curves, key]
  );
  const onWidth = React.useCallback(
    (width: number) => model.setWidth(width),
    [model]
  );
  const { extent } = curves;
  const menu: IMenuItem[] = [
    {
      label: trans.__('Save All Values (CSV)'),
      execute: () => props.saveValues(names)
    }
  ];
  if (line.range) {
    menu.push({
      label: trans.__('Show the Whole Range'),
      execute: () => line.zoom(null)
    });
  }
  return (
    <Chart
      title={chart.title}
      lines={lines}
      look={look}
      line={line}
      extent={extent && shift(extent, origin)}
      best={look.asTable ? null : bestMark(model, chart.metrics, trans)}
      caption={captionOf(lines, trans)}
      asTable={look.asTable}
      menu={menu}
      onShown={onShown}
      onWidth={onWidth}
      trans={trans}
    />
  );
}

function shift([first, last]: Range, origin: number): Range {
  return [first - origin, last - origin];
}

/** Return the lines of a chart; null while no curve is loaded. */
function linesOf(
  { curves, origin }: RunModel,
  metrics: readonly IChartMetric[],
  types: readonly string[]
): ILine[] | null {
  if (metrics.every(({ name }) => curves.get(name) === undefined)) {
    return null;
  }
  return metrics.flatMap(({ name, type }) =>
    (curves.get(name) ?? []).map(curve => ({
      key: name,
      label: type,
      curve,
      style: Math.max(0, types.indexOf(type)),
      origin
    }))
  );
}

/** Return the line of the best value. Its label names the type if the chart has several. */
function bestMark(
  model: RunModel,
  metrics: readonly IChartMetric[],
  trans: TranslationBundle
): IMark | null {
  const marked = markedMetric(metrics);
  const best =
    marked && bestOf(model.summary(marked.name), model.goal(marked.name));
  if (!marked || !best) {
    return null;
  }
  const value = formatValue(best.value);
  const text =
    best.step === null
      ? trans.__('best %1', value)
      : trans.__('best %1, step %2', value, formatValue(best.step));
  const label =
    metrics.length > 1 && marked.type
      ? trans.__('%1: %2', marked.type, text)
      : text;
  return { value: best.value, label };
}

function captionOf(
  lines: readonly ILine[] | null,
  trans: TranslationBundle
): string {
  if (lines === null) {
    return '';
  }
  const curves = lines.map(({ curve }) => curve);
  const isEmpty = curves.every(
    ({ x, not_finite: { count } }) => x.length === 0 && count === 0
  );
  return isEmpty
    ? trans.__('No values with this x axis.')
    : leftOutText(curves, trans);
}
