/** Drawing of a chart: its lines with their parts, smoothed if asked for, at common x values. */
import { Curve } from '../../api/types';
import { XAxis } from '../types';
import {
  IPart,
  join,
  partsOf,
  smooth,
  SMOOTHED_FROM,
  suitsLog,
  withGaps
} from './lines';

/** Opacity of a raw curve behind its smoothed one. */
export const RAW_OPACITY = 0.28;

/** A line of a chart. */
export interface ILine {
  key: string;
  /** Name in the legend. */
  label: string;
  curve: Curve;
  /** Number of the line's colour and dash, from 0. */
  style: number;
  /** Value that is subtracted from x values: the start of a run on an axis of time. */
  origin: number;
}

/** Style of the lines of all charts of a view. */
export interface ILook {
  x: XAxis;
  /** Weight of the past in smoothed curves, from 0 to less than 1. */
  smoothing: number;
  /** True to draw charts on a log scale if their values suit it. */
  log: boolean;
}

/** One stroke of a chart; a line has several if it is smoothed or has several parts. */
export interface IStroke {
  /** Index of the line. */
  line: number;
  /** True for the raw values behind a smoothed stroke. */
  isRaw: boolean;
}

/** A chart that is ready to be drawn. */
export interface IDrawing {
  lines: readonly ILine[];
  /** Raw parts of each line, which the legend and the table show. */
  parts: readonly (readonly IPart[])[];
  strokes: readonly IStroke[];
  /** Common x values, ascending. */
  x: number[];
  /** Values of each stroke. */
  y: (number | null | undefined)[][];
  isLog: boolean;
}

/** Return the drawing of lines. */
export function drawingOf(lines: readonly ILine[], look: ILook): IDrawing {
  const parts = lines.map(({ curve, origin }) => {
    const whole = look.x === 'step' ? withGaps(curve) : curve;
    return partsOf({
      x: origin ? whole.x.map(at => at - origin) : whole.x,
      y: whole.y
    });
  });
  const strokes: IStroke[] = [];
  const drawn: IPart[] = [];
  lines.forEach(({ curve }, line) => {
    const isSmoothed = look.smoothing > 0 && curve.count >= SMOOTHED_FROM;
    for (const part of parts[line]) {
      strokes.push({ line, isRaw: isSmoothed });
      drawn.push(part);
      if (isSmoothed) {
        strokes.push({ line, isRaw: false });
        drawn.push({ x: part.x, y: smooth(part.y, look.smoothing) });
      }
    }
  });
  const isLog = look.log && suitsLog(parts.flat());
  return { lines, parts, strokes, ...join(drawn), isLog };
}

/**
 * Return the mean and the extremes of many curves as three curves.
 *
 * @param curves - Curves of a metric of several runs.
 * @param points - Number of x values.
 */
export function spreadOf(
  curves: readonly Curve[],
  points: number
): Record<'mean' | 'least' | 'greatest', Curve> | null {
  const parts = curves.map(partsOf).map(all => all.map(withoutGaps));
  const ends = parts
    .flat()
    .flatMap(({ x }) => (x.length ? [x[0], x[x.length - 1]] : []));
  if (ends.length === 0) {
    return null;
  }
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const x: number[] = [];
  const [mean, least, greatest] = [[], [], []] as number[][];
  for (let index = 0; index < points; index++) {
    const at = first + ((last - first) * index) / Math.max(1, points - 1);
    const values = parts.flatMap(all => interpolate(all, at) ?? []);
    if (values.length > 0) {
      x.push(at);
      mean.push(values.reduce((sum, value) => sum + value, 0) / values.length);
      least.push(Math.min(...values));
      greatest.push(Math.max(...values));
    }
  }
  const curve = (y: number[]): Curve => ({
    ...curves[0],
    ...{ x, y, count: 0, truncated: false },
    not_finite: { count: 0, first_step: null, last_step: null }
  });
  return { mean: curve(mean), least: curve(least), greatest: curve(greatest) };
}

function withoutGaps({ x, y }: IPart): IPart {
  const kept = y.flatMap((value, index) => (value === null ? [] : index));
  return { x: kept.map(at => x[at]), y: kept.map(at => y[at]) };
}

/** Return the value of a curve without gaps at a position, between its neighbours; null outside of the curve. */
function interpolate(parts: readonly IPart[], at: number): number | null {
  for (const { x, y } of [...parts].reverse()) {
    const after = x.findIndex(value => value >= at);
    const right = y[after];
    const left = y[after - 1];
    if (after === 0 && x[0] === at) {
      return right;
    }
    if (after > 0 && left != null && right != null) {
      const width = x[after] - x[after - 1];
      const share = width > 0 ? (at - x[after - 1]) / width : 1;
      return left + (right - left) * share;
    }
  }
  return null;
}
