/** A chart of one metric: curves, limits, and the values at the reading line. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { nearest } from '../../experiments/charts/lines';
import { coloursOf, useTheme } from '../../experiments/charts/palette';
import { ReadingLine } from '../../experiments/charts/readingLine';
import { ResourceRow, ResourceView } from '../../api/types';
import { formatClock, listed } from '../../common/format';
import { useSignal, useWidth } from '../../common/hooks';
import { formatIn, IScale } from './amounts';
import { Curve, extentOf, Level, plotData } from './layout';
import { createResourcePlot, LABELS_WIDTH } from './plot';

/** Values that stand beside the reading line at most. */
const MOST_VALUES = 8;

interface IResourceChartProps {
  view: ResourceView;
  row: ResourceRow;
  curves: readonly Curve[];
  /** Name for screen readers. */
  label: string;
  names: readonly string[];
  scale: IScale;
  top: number;
  levels: readonly Level[];
  pauses: readonly (readonly [number, number])[];
  line: ReadingLine;
  height: number;
  hasTimes: boolean;
  trans: TranslationBundle;
}

/** The canvas of a chart. For screen readers it is a slider that moves the reading line. */
export function ResourceChart(props: IResourceChartProps): React.JSX.Element {
  const { view, curves, line, top, levels, pauses, height, hasTimes } = props;
  const { scale, names, label } = props;
  const host = React.useRef<HTMLDivElement>(null);
  const plot = React.useRef<uPlot | null>(null);
  const width = Math.floor(useWidth(host));
  const theme = useTheme();
  useSignal(line.changed);
  const isSpread = curves[0]?.part === 'spread';
  const data = React.useMemo(
    () =>
      plotData(
        view,
        isSpread
          ? [curves[0].mean, curves[0].low, curves[0].high]
          : curves.map(({ mean }) => mean)
      ),
    [view, curves, isSpread]
  );
  React.useLayoutEffect(() => {
    if (!host.current || width <= 0) {
      return;
    }
    const style = getComputedStyle(host.current);
    const created = createResourcePlot(host.current, {
      ...{ data, line, width, height, top, levels, pauses, isSpread, hasTimes },
      extent: extentOf(view),
      colours: coloursOf(host.current),
      limitColour: style.getPropertyValue('--jp-error-color1').trim(),
      by: scale.by
    });
    plot.current = created;
    return () => {
      plot.current = null;
      created.destroy();
    };
    // `scale` is a new object on each rendering
  }, [
    ...[data, line, width, height, top, levels, pauses, isSpread, hasTimes],
    ...[view, theme, scale.by]
  ]);
  const index = line.at === null ? -1 : nearest(data.x, line.at);
  const at = index < 0 ? (data.x[data.x.length - 1] ?? 0) : data.x[index];
  const values = data.y.map(series =>
    formatIn(series[index < 0 ? series.length - 1 : index] ?? null, scale)
  );
  const left = plot.current?.valToPos(at, 'x') ?? 0;
  const isLeft = left < width / 3;
  return (
    <div
      ref={host}
      className="jp-t9k-ResourceChart"
      style={{ height }}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={data.x[0] ?? 0}
      aria-valuemax={data.x[data.x.length - 1] ?? 0}
      aria-valuenow={at}
      aria-valuetext={listed([
        formatClock(at, true),
        ...values.map(
          (value, each) => `${names[each] ?? ''} ${value} ${scale.name}`
        )
      ])}
      onKeyDown={event => onKey(event, line, data.x)}
    >
      {index >= 0 && values.length <= MOST_VALUES && (
        <span
          className="jp-t9k-ResourceChart-values"
          aria-hidden
          style={
            isLeft
              ? { left: LABELS_WIDTH + left + 6 }
              : { right: width - LABELS_WIDTH - left + 6 }
          }
        >
          {values.join(' · ')}
        </span>
      )}
    </div>
  );
}

function onKey(
  event: React.KeyboardEvent,
  line: ReadingLine,
  x: readonly number[]
): void {
  const size = event.shiftKey ? 10 : 1;
  const actions: Record<string, () => void> = {
    ArrowLeft: () => line.step(x, -size),
    ArrowRight: () => line.step(x, size),
    Home: () => line.step(x, -Infinity),
    End: () => line.step(x, Infinity),
    Escape: () => line.release()
  };
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (Object.hasOwn(actions, event.key)) {
    actions[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }
}
