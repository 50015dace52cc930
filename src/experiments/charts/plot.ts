/** Drawing of a chart with uPlot. */
import uPlot from 'uplot';
import { IDrawing, RAW_OPACITY } from './drawing';
import { nearest } from './lines';
import { dashOf, IColours } from './palette';
import { Range, ReadingLine } from './readingLine';

/** Height of a chart in px. */
export const CHART_HEIGHT = 180;
/** A pointer that moved less than this between press and release has clicked, in px. */
const CLICK = 4;
/** Steps of an axis of time, in seconds. */
const TIME_STEPS = [
  ...[0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 43_200],
  ...[1, 2, 5, 10, 20, 50, 100].map(days => days * 86_400)
];

/** A horizontal line with a label. */
export interface IMark {
  value: number;
  label: string;
}

/** Options of a plot. */
export interface IPlotOptions {
  drawing: IDrawing;
  line: ReadingLine;
  colours: IColours;
  width: number;
  /** Range of the x axis that all charts of the view share; null for the chart's own. */
  extent: Range | null;
  best: IMark | null;
  isTime: boolean;
  formatX(value: number): string;
  formatY(value: number): string;
}

/** Create the plot in an element. The plot follows the reading line until `destroy` is called. */
export function createPlot(host: HTMLElement, options: IPlotOptions): uPlot {
  const { drawing, line } = options;
  const plot = new uPlot(
    optionsOf(options),
    [drawing.x, ...drawing.y] as uPlot.AlignedData,
    host
  );
  const onLine = (): void => place(plot, line);
  const onZoom = (): void => {
    const [min, max] = rangeOf(options);
    plot.setScale('x', { min, max });
    place(plot, line);
  };
  line.changed.connect(onLine);
  line.zoomed.connect(onZoom);
  plot.hooks.destroy = [
    () => {
      line.changed.disconnect(onLine);
      line.zoomed.disconnect(onZoom);
    }
  ];
  place(plot, line);
  return plot;
}

/** Return the shown range of the x axis. */
function rangeOf({
  line,
  extent,
  drawing: { x }
}: IPlotOptions): [number, number] {
  const [first, last] = line.range ??
    extent ?? [x[0] ?? 0, x[x.length - 1] ?? 1];
  return first < last ? [first, last] : [first - 1, last + 1];
}

/** Move the cursor of a plot to the reading line. */
function place(plot: uPlot, { at }: ReadingLine): void {
  const left = at === null ? -10 : plot.valToPos(at, 'x');
  const isInside = left >= 0 && left <= plot.over.clientWidth;
  plot.setCursor(
    isInside
      ? { left, top: plot.over.clientHeight / 2 }
      : { left: -10, top: -10 },
    false
  );
}

function optionsOf(options: IPlotOptions): uPlot.Options {
  const { drawing, colours, width, isTime } = options;
  const grid = { stroke: colours.grid, width: 1 };
  const axis = {
    stroke: colours.secondary,
    font: colours.font,
    grid,
    ticks: { show: false }
  };
  return {
    width,
    height: CHART_HEIGHT,
    padding: [8, 12, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => rangeOf(options) },
      y: drawing.isLog
        ? {
            distr: 3,
            range: (_, min, max) => uPlot.rangeLog(min, max, 10, false)
          }
        : {}
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 24,
        ...(isTime && { incrs: TIME_STEPS }),
        values: (_, splits) => splits.map(options.formatX)
      },
      {
        ...axis,
        space: 36,
        size: 52,
        ...(drawing.isLog && {
          splits: (_plot, _axis, min, max) => logSplits(min, max)
        }),
        values: (_, splits) =>
          splits.map(value => (value == null ? '' : options.formatY(value)))
      }
    ],
    series: [{}, ...drawing.strokes.map((_, at) => seriesOf(options, at))],
    cursor: cursorOf(options),
    hooks: {
      draw: [plot => drawMark(plot, options)],
      ready: [plot => listen(plot, options)]
    }
  };
}

/** Return the labelled values of a log scale: powers of ten, with 2 and 5 between them on a short scale. */
export function logSplits(min: number, max: number): number[] {
  const [first, last] = [
    Math.floor(Math.log10(min)),
    Math.ceil(Math.log10(max))
  ];
  const step = Math.max(1, Math.ceil((last - first) / 6));
  const within = last - first > 2 ? [1] : [1, 2, 5];
  const splits: number[] = [];
  for (let power = first; power <= last; power += step) {
    splits.push(...within.map(factor => Number(`${factor}e${power}`)));
  }
  return splits.filter(value => value >= min * 0.999 && value <= max * 1.001);
}

function seriesOf(
  { drawing, colours }: IPlotOptions,
  index: number
): uPlot.Series {
  const { line, isRaw } = drawing.strokes[index];
  const { style } = drawing.lines[line];
  return {
    stroke: colours.line(style),
    width: isRaw ? 1 : 1.5,
    alpha: isRaw ? RAW_OPACITY : 1,
    dash: isRaw ? [] : dashOf(style),
    points: {
      // a value without neighbours is no line
      show: drawing.y[index].filter(value => value != null).length === 1,
      size: 5,
      fill: colours.line(style)
    }
  };
}

function cursorOf({ drawing, line, colours }: IPlotOptions): uPlot.Cursor {
  const isRaw = (series: number): boolean =>
    drawing.strokes[series - 1]?.isRaw ?? true;
  return {
    y: false,
    drag: { x: true, y: false, setScale: false },
    points: {
      size: (_, series) => (isRaw(series) ? 0 : 6),
      fill: (_, series) =>
        colours.line(drawing.lines[drawing.strokes[series - 1].line].style)
    },
    bind: {
      // A held line stays; a drag goes on.
      mousemove: (_plot, _target, handler) => event =>
        line.isHeld && event.buttons === 0 ? null : handler(event),
      mouseleave: (_plot, _target, handler) => event => {
        if (!line.isHeld && event.buttons === 0) {
          line.follow(null);
          handler(event);
        }
        return null;
      },
      dblclick: () => () => {
        line.zoom(null);
        return null;
      }
    }
  };
}

/** Follow the pointer from point to point, hold the line on a click, and zoom to the range of a drag. */
function listen(plot: uPlot, { line, drawing: { x } }: IPlotOptions): void {
  let pressedAt = -Infinity;
  const { over } = plot;
  const at = (event: MouseEvent): number => {
    const { left } = over.getBoundingClientRect();
    const value = plot.posToVal(event.clientX - left, 'x');
    return x[nearest(x, value)] ?? value;
  };
  over.addEventListener('mousemove', event => {
    if (event.buttons === 0) {
      line.follow(at(event));
    }
  });
  over.addEventListener('mousedown', event => {
    pressedAt = event.clientX;
  });
  // The layout may move below the pointer, so that a click has a width for uPlot.
  plot.hooks.setSelect = [
    () => {
      const releasedAt = plot.cursor.event?.clientX ?? pressedAt;
      if (Math.abs(releasedAt - pressedAt) >= CLICK) {
        select(plot, line);
      } else {
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }
    }
  ];
  over.addEventListener('mouseup', event => {
    if (event.button === 0 && Math.abs(event.clientX - pressedAt) < CLICK) {
      line.click(at(event));
    }
  });
}

/** Zoom to the range that the pointer has marked. */
function select(plot: uPlot, line: ReadingLine): void {
  const { left, width } = plot.select;
  if (width > 0) {
    const range: Range = [
      plot.posToVal(left, 'x'),
      plot.posToVal(left + width, 'x')
    ];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    line.zoom(range);
  }
}

/** Draw the line of the best value with its label. */
function drawMark(plot: uPlot, { best, colours }: IPlotOptions): void {
  const { min, max } = plot.scales.y;
  if (!best || min == null || max == null) {
    return;
  }
  if (best.value < min || best.value > max) {
    return;
  }
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(best.value, 'y', true)) + 0.5;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = colours.text;
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = colours.font.replace('11px', `${11 * ratio}px`);
  ctx.fillStyle = colours.text;
  ctx.textAlign = 'right';
  const isHigh = y - bbox.top < 20 * ratio;
  ctx.textBaseline = isHigh ? 'top' : 'bottom';
  const at = [
    bbox.left + bbox.width - 2 * ratio,
    y + (isHigh ? 3 : -3) * ratio
  ] as const;
  // The label may lie over a curve.
  ctx.setLineDash([]);
  ctx.strokeStyle = colours.background;
  ctx.lineWidth = 3 * ratio;
  ctx.strokeText(best.label, ...at);
  ctx.fillText(best.label, ...at);
  ctx.restore();
}
