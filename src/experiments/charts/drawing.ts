/** Drawing of a chart: its lines with their parts, smoothed if asked for, at common x values. */
import { Curve } from '../../api/types';
import { XAxis } from '../types';
import {
  firstFrom,
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
      ...whole,
      x: origin ? whole.x.map(at => at - origin) : whole.x
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
        drawn.push({
          x: part.x,
          y: smooth(part.means ?? part.y, look.smoothing)
        });
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
  const runs = curves.map(partsOf).map(parts => parts.map(withoutGaps));
  const ends = runs
    .flat()
    .flatMap(({ x }) => (x.length ? [x[0], x[x.length - 1]] : []));
  if (ends.length === 0) {
    return null;
  }
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const distance = (last - first) / Math.max(1, points - 1);
  const x: number[] = [];
  const [mean, least, greatest] = [[], [], []] as number[][];
  for (let index = 0; index < points; index++) {
    const at = index === points - 1 ? last : first + distance * index;
    const found = runs.flatMap(parts => around(parts, at, distance) ?? []);
    if (found.length > 0) {
      x.push(at);
      mean.push(found.reduce((sum, run) => sum + run.mean, 0) / found.length);
      least.push(Math.min(...found.map(run => run.least)));
      greatest.push(Math.max(...found.map(run => run.greatest)));
    }
  }
  const curve = (y: number[]): Curve => ({
    ...curves[0],
    ...{ x, y, means: null, count: 0, truncated: false },
    not_finite: { count: 0, first_step: null, last_step: null }
  });
  return { mean: curve(mean), least: curve(least), greatest: curve(greatest) };
}

/** A part of a curve without gaps. */
interface IWhole {
  x: readonly number[];
  y: readonly number[];
  means: readonly number[];
}

function withoutGaps({ x, y, means = y }: IPart): IWhole {
  const kept = y.flatMap((value, index) =>
    value === null || means[index] === null ? [] : index
  );
  return {
    x: kept.map(at => x[at]),
    y: kept.map(at => y[at] as number),
    means: kept.map(at => means[at] as number)
  };
}

/**
 * Return the mean and the extremes of a run around a position; null outside of its curve.
 *
 * @param parts - The parts of its curve.
 * @param at - The position.
 * @param distance - Distance from one position to the next one. If it holds several points, the extremes are theirs.
 */
function around(
  parts: readonly IWhole[],
  at: number,
  distance: number
): Record<'mean' | 'least' | 'greatest', number> | null {
  for (const { x, y, means } of [...parts].reverse()) {
    const right = firstFrom(x, at);
    const left = Math.max(0, right - 1);
    if (right < x.length && (right > 0 || x[0] === at)) {
      const width = x[right] - x[left];
      const share = width > 0 ? (at - x[left]) / width : 1;
      const between = (values: readonly number[]): number =>
        values[left] + (values[right] - values[left]) * share;
      const near = y.slice(
        firstFrom(x, at - distance / 2),
        firstFrom(x, at + distance / 2)
      );
      const values = near.length > 1 ? near : [between(y)];
      return {
        mean: between(means),
        least: Math.min(...values),
        greatest: Math.max(...values)
      };
    }
  }
  return null;
}
