/** Drawing of a chart of resources with uPlot. */
import uPlot from 'uplot';
import { nearest } from '../../experiments/charts/lines';
import { dashOf, IColours } from '../../experiments/charts/palette';
import { ReadingLine } from '../../experiments/charts/readingLine';
import { formatTicks } from './amounts';
import { IPlotData, Level, timeLabels } from './layout';

/** Width of the labels at the left of a chart, in px; the axis of attempts has the same indent. */
export const LABELS_WIDTH = 44;
/** Space at the right of a chart, in px. */
export const RIGHT_SPACE = 8;

/** Options of a plot. */
export interface IResourcePlot {
  data: IPlotData;
  line: ReadingLine;
  colours: IColours;
  /** Colour of limits. */
  limitColour: string;
  width: number;
  height: number;
  extent: readonly [number, number];
  top: number;
  levels: readonly Level[];
  /** Ranges without a running attempt. */
  pauses: readonly (readonly [number, number])[];
  /** True if the series are the mean, the least and the greatest value of many replicas. */
  isSpread: boolean;
  hasTimes: boolean;
  /** Divisor of values and lines, so that the labels of the axis are round numbers. */
  by: number;
}

/** Create a plot in an element. It follows the reading line until it is destroyed. */
export function createResourcePlot(
  host: HTMLElement,
  options: IResourcePlot
): uPlot {
  const { data, line } = options;
  const plot = new uPlot(
    optionsOf(options),
    [
      data.x,
      ...data.y.map(values =>
        values.map(value => (value === null ? null : value / options.by))
      )
    ] as uPlot.AlignedData,
    host
  );
  const onLine = (): void => place(plot, line);
  line.changed.connect(onLine);
  plot.hooks.destroy = [() => line.changed.disconnect(onLine)];
  return plot;
}

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

function optionsOf(options: IResourcePlot): uPlot.Options {
  const { data, colours, extent, top, isSpread } = options;
  const axis = {
    stroke: colours.secondary,
    font: colours.font,
    ticks: { show: false }
  };
  return {
    width: options.width,
    height: options.height,
    padding: [6, RIGHT_SPACE, options.hasTimes ? 0 : 4, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [extent[0], extent[1]] },
      y: { range: () => [0, top / options.by] }
    },
    axes: [
      {
        ...axis,
        show: options.hasTimes,
        grid: { show: false },
        space: 80,
        size: 20,
        values: ({ width }, splits) =>
          timeLabels(splits, extent, width - LABELS_WIDTH, RIGHT_SPACE)
      },
      {
        ...axis,
        size: LABELS_WIDTH,
        space: 28,
        grid: { stroke: colours.grid, width: 1 },
        values: (_, splits) => formatTicks(splits)
      }
    ],
    ...(isSpread && {
      bands: [{ series: [3, 2] as [number, number], fill: colours.grid }]
    }),
    series: [
      {},
      ...data.y.map((values, index) => ({
        stroke: isSpread && index > 0 ? colours.secondary : colours.line(index),
        width: isSpread && index > 0 ? 1 : 1.5,
        dash: isSpread ? [] : dashOf(index),
        points: {
          show: values.filter(value => value !== null).length === 1,
          size: 5,
          fill: colours.line(index)
        }
      }))
    ],
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { size: 6 },
      bind: {
        mousemove: (_plot, _target, handler) => event =>
          options.line.isHeld ? null : handler(event),
        mouseleave: (_plot, _target, handler) => event => {
          if (!options.line.isHeld) {
            options.line.follow(null);
            handler(event);
          }
          return null;
        },
        dblclick: () => () => null
      }
    },
    hooks: {
      drawClear: [plot => drawPauses(plot, options)],
      draw: [
        plot => options.levels.forEach(level => drawLevel(plot, level, options))
      ],
      ready: [
        plot => {
          listen(plot, options);
          place(plot, options.line);
        }
      ]
    }
  };
}

/** Follow the pointer from point to point; a click holds the line. */
function listen(plot: uPlot, { line, data: { x } }: IResourcePlot): void {
  const at = (event: MouseEvent): number => {
    const { left } = plot.over.getBoundingClientRect();
    const value = plot.posToVal(event.clientX - left, 'x');
    return x[nearest(x, value)] ?? value;
  };
  plot.over.addEventListener('mousemove', event => line.follow(at(event)));
  plot.over.addEventListener('click', event => line.click(at(event)));
}

function drawPauses(
  plot: uPlot,
  { pauses, colours, extent }: IResourcePlot
): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = colours.grid;
  for (const [first, last] of pauses) {
    const from = plot.valToPos(Math.max(first, extent[0]), 'x', true);
    const to = plot.valToPos(Math.min(last, extent[1]), 'x', true);
    if (to > from) {
      ctx.fillRect(from, bbox.top, Math.max(1, to - from), bbox.height);
    }
  }
  ctx.restore();
}

/** Draw a limit as a red dashed line, and other lines as grey ones, with their labels. */
function drawLevel(plot: uPlot, level: Level, options: IResourcePlot): void {
  const { ctx, bbox } = plot;
  const ratio = uPlot.pxRatio;
  const isLimit = level.kind === 'limit';
  const y =
    Math.round(plot.valToPos(level.value / options.by, 'y', true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = isLimit ? options.limitColour : options.colours.text;
  ctx.lineWidth = ratio;
  ctx.setLineDash([(isLimit ? 5 : 3) * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = options.colours.font.replace('11px', `${11 * ratio}px`);
  ctx.fillStyle = options.colours.text;
  ctx.textAlign = isLimit ? 'right' : 'left';
  const hasRoom = y - bbox.top > 14 * ratio;
  ctx.textBaseline = hasRoom ? 'bottom' : 'top';
  ctx.fillText(
    level.label,
    isLimit ? bbox.left + bbox.width - 2 * ratio : bbox.left + 4 * ratio,
    y + (hasRoom ? -3 : 3) * ratio
  );
  ctx.restore();
}
