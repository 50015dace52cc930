/** Arrangement of the charts: rows are metrics, columns are replicas. */
import { LogMarker, Replica, ResourceRow, ResourceView } from '../../api/types';
import { formatClock } from '../../common/format';

/** A curve of an answer. */
export type Curve = ResourceRow['curves'][number];

/** Replicas that stand side by side at most; more are shown one metric at a time. */
export const SIDE_BY_SIDE = 3;

/** Arrangement of the charts: a chart for each metric, metrics × replicas, or the replicas of one metric. */
export type Arrangement = 'metrics' | 'columns' | 'replicas';

/** Return how the charts of an answer are arranged. */
export function arrangementOf(view: ResourceView): Arrangement {
  const isSpread = view.rows.some(row =>
    row.curves.some(({ part }) => part === 'spread')
  );
  const replicas = new Set(
    view.rows
      .flatMap(row => row.curves.map(({ replica }) => replica))
      .filter(replica => replica !== null)
  );
  if (isSpread || replicas.size <= 1) {
    return 'metrics';
  }
  return replicas.size <= SIDE_BY_SIDE ? 'columns' : 'replicas';
}

/** Values of curves at common times. Between two points that are far apart, every curve has a gap. */
export interface IPlotData {
  x: number[];
  y: (number | null)[][];
}

/**
 * Return the values of curves for a plot.
 *
 * @param view - The answer.
 * @param series - Values of each series at the times of the answer.
 */
export function plotData(
  view: ResourceView,
  series: readonly (readonly (number | null)[])[]
): IPlotData {
  const gaps = new Set(view.gaps);
  const x: number[] = [];
  const y: (number | null)[][] = series.map(() => []);
  view.times.forEach((time, index) => {
    if (gaps.has(index)) {
      x.push((time + view.times[index - 1]) / 2);
      y.forEach(values => values.push(null));
    }
    x.push(time);
    y.forEach((values, at) => values.push(series[at][index]));
  });
  return { x, y };
}

/** Range of the axis of time that all charts share: from the first point to the end of the last one. */
export function extentOf(view: ResourceView): readonly [number, number] {
  const { times } = view;
  const first = times[0] ?? view.first ?? 0;
  const last = times[times.length - 1] ?? view.last ?? first;
  return first < last ? [first, last] : [first - 1, last + 1];
}

/**
 * Return the markers on the axis of time. A job that fails writes its last error after its last sample: markers up to
 * two samples later are at the end of the axis.
 */
export function markersOn(
  view: ResourceView,
  markers: readonly LogMarker[]
): LogMarker[] {
  const [first, last] = extentOf(view);
  const end = last + 2 * (view.interval ?? 0);
  return markers.filter(({ time }) => time >= first && time <= end);
}

/** A line that no value may exceed, or that is reserved. */
export type Level = ResourceRow['levels'][number];

/** Largest value of a row and its lines, which all charts of the row share. Lines far above the values do not count. */
export function topOf(row: ResourceRow): { top: number; levels: Level[] } {
  const values = row.curves.flatMap(({ high }) =>
    high.filter(value => value !== null)
  );
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const levels = row.levels.filter(({ value }) => value <= most * 4);
  if (row.unit === 'percent') {
    return { top: 100, levels };
  }
  const top = levels.reduce((a, { value }) => Math.max(a, value), most);
  return { top: top > 0 ? top * 1.1 : 1, levels };
}

/** A stretch on the axis of attempts. */
export interface IStretch {
  number: number;
  first: number;
  /** Null for an attempt that still runs. */
  last: number | null;
  ended: string | null;
}

/** Return the attempts of a replica; of the replica with the most attempts if none is named. */
export function stretchesOf(
  replicas: readonly Replica[],
  name: string | null
): IStretch[] {
  const replica =
    replicas.find(each => each.name === name) ??
    [...replicas].sort((a, b) => b.attempts.length - a.attempts.length)[0];
  return (replica?.attempts ?? []).flatMap(attempt =>
    attempt.started_at === null
      ? []
      : [
          {
            number: attempt.number,
            first: attempt.started_at,
            last: attempt.ended_at,
            ended: attempt.ended
          }
        ]
  );
}

/**
 * Return the labels of times below a plot; empty for a time so near to the end that its label would be cut off.
 *
 * @param times - Seconds since the epoch.
 * @param extent - First and last time of the plot.
 * @param width - Width of the plot with the space at its right, in px.
 * @param space - Space at the right, in px.
 */
export function timeLabels(
  times: readonly number[],
  extent: readonly [number, number],
  width: number,
  space: number
): string[] {
  const seconds = extent[1] - extent[0];
  const hasSeconds = seconds < 600;
  const half = hasSeconds ? 28 : 18;
  return times.map(time =>
    ((extent[1] - time) / seconds) * (width - space) + space < half
      ? ''
      : formatClock(time, hasSeconds)
  );
}
