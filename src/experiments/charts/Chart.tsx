/** A chart with its title, legend, menu and caption. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useShown, useSignal, useWidth } from '../../common/hooks';
import { IMenuItem } from '../../common/menu';
import { MoreButton } from '../../ui/MenuButton';
import { ChartTable } from './ChartTable';
import { drawingOf, IDrawing, ILine, ILook } from './drawing';
import { Key } from './Key';
import { valueAt } from './lines';
import { formatValue } from './numbers';
import { coloursOf, dashOf, useTheme } from './palette';
import { CHART_HEIGHT, createPlot, IMark } from './plot';
import { Range, ReadingLine } from './readingLine';
import { IPictureKey, savePicture } from '../../common/saveFile';
import { axisText } from './text';
import { listed } from '../../common/format';

interface IChartProps {
  title: string;
  /** Lines of the chart; null while the curves are loaded. */
  lines: readonly ILine[] | null;
  look: ILook;
  line: ReadingLine;
  /** Range of the x axis that all charts of the view share; null for the chart's own. */
  extent: Range | null;
  best?: IMark | null;
  /** Sentence about values that the chart does not draw: “3 values were NaN”. */
  caption?: string;
  /** True to show the values as a table. */
  asTable: boolean;
  /** Further entries of the chart's menu. */
  menu?: readonly IMenuItem[];
  /** Called when the chart comes into view. The returned function is called when it goes out of view. */
  onShown(): () => void;
  /** Called with the width of the chart in px. */
  onWidth(width: number): void;
  trans: TranslationBundle;
}

/** A chart of one metric. It is drawn when it comes into view. */
export function Chart(props: IChartProps): React.JSX.Element {
  const { title, lines, look, asTable, trans } = props;
  const { x, smoothing, log } = look;
  const ref = React.useRef<HTMLElement>(null);
  const plot = React.useRef<uPlot | null>(null);
  const isShown = useShown(ref);
  const { onShown } = props;
  React.useEffect(() => (isShown ? onShown() : undefined), [isShown, onShown]);
  const drawing = React.useMemo(
    () => (lines ? drawingOf(lines, { x, smoothing, log }) : null),
    [lines, x, smoothing, log]
  );
  const menu: IMenuItem[] = [
    ...(asTable
      ? []
      : [
          {
            label: trans.__('Save as Picture'),
            execute: () => {
              if (plot.current && drawing && ref.current) {
                const legend = legendOf(drawing, ref.current);
                savePicture(plot.current.ctx.canvas, title, legend);
              }
            }
          }
        ]),
    ...(props.menu ?? [])
  ];
  return (
    <section ref={ref} className="jp-t9k-Chart" aria-label={title}>
      <header>
        <h3 title={title}>{title}</h3>
        {drawing?.isLog && !asTable && (
          <span className="jp-t9k-caption">
            {trans._p('scale of an axis', 'log')}
          </span>
        )}
        {drawing && <Legend {...props} drawing={drawing} />}
        {menu.length > 0 && (
          <MoreButton
            label={trans.__('Actions for chart %1', title)}
            items={() => menu}
          />
        )}
      </header>
      {drawing === null ? (
        <div className="jp-t9k-Chart-wait" style={{ height: CHART_HEIGHT }} />
      ) : asTable ? (
        <ChartTable drawing={drawing} x={x} title={title} trans={trans} />
      ) : (
        <Plot {...props} drawing={drawing} plot={plot} />
      )}
      {props.caption && <p className="jp-t9k-caption">{props.caption}</p>}
    </section>
  );
}

/** Return the legend of a chart's picture. */
function legendOf(drawing: IDrawing, element: HTMLElement): IPictureKey[] {
  const { line } = coloursOf(element);
  return drawing.lines.map(({ label, style }) => ({
    label: label.length > 200 ? `${label.slice(0, 200)}…` : label,
    colour: line(style),
    dash: dashOf(style)
  }));
}

interface IDrawnProps extends IChartProps {
  drawing: IDrawing;
}

/** Names of the lines with their values at the reading line, or with their last values. */
function Legend({ drawing, line }: IDrawnProps): React.JSX.Element {
  useSignal(line.changed);
  return (
    <ul className="jp-t9k-Chart-legend">
      {drawing.lines.map(({ key, label, style }, index) => (
        <li key={key} title={label}>
          <Key style={style} />
          <span>{label}</span>{' '}
          <strong>{formatValue(valueAt(drawing.parts[index], line.at))}</strong>
        </li>
      ))}
    </ul>
  );
}

interface IPlotProps extends IDrawnProps {
  plot: React.MutableRefObject<uPlot | null>;
}

/** The canvas of a chart. For screen readers it is a slider that moves the reading line. */
function Plot(props: IPlotProps): React.JSX.Element {
  const { drawing, line, look, extent, best, plot, trans } = props;
  const host = React.useRef<HTMLDivElement>(null);
  const width = Math.floor(useWidth(host));
  const theme = useTheme();
  const { onWidth } = props;
  const [first, last] = extent ?? [null, null];
  useSignal(line.changed);
  React.useEffect(() => onWidth(width), [onWidth, width]);
  const hasWidth = width > 0;
  const latest = React.useRef(width);
  latest.current = width;

  React.useLayoutEffect(() => {
    if (!host.current || !hasWidth) {
      return;
    }
    const created = createPlot(host.current, {
      ...{ drawing, line },
      best: best ?? null,
      width: latest.current,
      extent: first !== null && last !== null ? [first, last] : null,
      colours: coloursOf(host.current),
      isTime: look.x === 'time',
      formatX: value => axisText(value, look.x, trans),
      formatY: formatValue
    });
    plot.current = created;
    return () => {
      plot.current = null;
      created.destroy();
    };
    // `best` is a new object on each rendering
  }, [
    ...[drawing, line, first, last, hasWidth, theme, look.x, trans, plot],
    ...[best?.value, best?.label]
  ]);
  React.useLayoutEffect(() => {
    if (plot.current && width > 0 && plot.current.width !== width) {
      plot.current.setSize({ width, height: CHART_HEIGHT });
    }
  }, [plot, width]);

  const { x } = drawing;
  const at = line.at ?? x[x.length - 1] ?? 0;
  const values = drawing.lines.map(({ label }, index) =>
    trans.__(
      '%1: %2',
      label,
      formatValue(valueAt(drawing.parts[index], line.at))
    )
  );
  const where = axisText(at, look.x, trans);
  return (
    <div
      ref={host}
      className="jp-t9k-Chart-plot"
      style={{ height: CHART_HEIGHT }}
      role="slider"
      tabIndex={0}
      aria-label={trans.__('Reading line of %1', props.title)}
      aria-valuemin={x[0] ?? 0}
      aria-valuemax={x[x.length - 1] ?? 0}
      aria-valuenow={at}
      aria-valuetext={listed([where, ...values])}
      onKeyDown={event => onKey(event, line, x)}
    />
  );
}

/** Move the reading line by keyboard, or zoom. */
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
    Escape: () => (line.at === null ? line.zoom(null) : line.release()),
    '+': () => line.zoomBy(x, 0.5),
    '-': () => line.zoomBy(x, 2),
    '0': () => line.zoom(null)
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
