/** Parallel coordinates of runs with ranges that can be marked on the axes. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useWidth } from '../../../common/hooks';
import { formatScalar, formatValue } from '../../charts/numbers';
import { colourName, dashOf } from '../../charts/palette';
import { RunRow } from '../../../api/types';
import {
  Brush,
  conditionOf,
  IAxis,
  isWithin,
  labelsOf,
  positionOf
} from './axes';
import { CompareModel } from '../model';

/** Sizes in px. */
const HEIGHT = 230;
const TOP = 12;
const BOTTOM = 12;
const SIDE = 70;
const BRUSH_WIDTH = 20;
/** Lines of other runs. */
const MOST_OTHERS = 2000;
/** Step of a range by keyboard. */
const STEP = 0.05;

interface IParallelProps {
  model: Pick<CompareModel, 'others' | 'styleOf'>;
  axes: readonly IAxis[];
  runs: readonly RunRow[];
  labels: ReadonlyMap<string, string>;
  brushes: ReadonlyMap<string, Brush>;
  setBrushes(brushes: ReadonlyMap<string, Brush>): void;
  /** Move an axis to another place. */
  move(key: string, to: number): void;
  trans: TranslationBundle;
}

/** One vertical axis for each parameter or metric, and one line for each run. */
export function ParallelCoordinates(props: IParallelProps): React.JSX.Element {
  const { model, axes, runs, labels, brushes, trans } = props;
  const host = React.useRef<HTMLDivElement>(null);
  const width = Math.max(SIDE * 2 + 1, Math.floor(useWidth(host)));
  const xOf = (index: number): number =>
    axes.length < 2
      ? width / 2
      : SIDE + ((width - 2 * SIDE) * index) / (axes.length - 1);
  const path = (run: RunRow): string => pathOf(run, axes, xOf);
  const others = model.others.slice(0, MOST_OTHERS);
  const inside = new Set(others.filter(run => isWithin(run, axes, brushes)));
  const outside = others.filter(run => !inside.has(run));
  return (
    <div ref={host} className="jp-t9k-Parallel">
      <div className="jp-t9k-Parallel-names">
        {axes.map((axis, index) => (
          <AxisName
            key={axis.key}
            {...props}
            axis={axis}
            index={index}
            x={xOf(index)}
            spacing={axes.length > 1 ? xOf(1) - xOf(0) : width}
          />
        ))}
      </div>
      <svg
        width={width}
        height={HEIGHT}
        role="group"
        aria-label={trans._n(
          'Parallel coordinates of %1 run',
          'Parallel coordinates of %1 runs',
          runs.length
        )}
      >
        <path
          className="jp-t9k-Parallel-others"
          data-outside
          d={outside.map(path).join('')}
        />
        <path
          className="jp-t9k-Parallel-others"
          d={[...inside].map(path).join('')}
        />
        {runs.map(run => (
          <path
            key={run.id}
            className="jp-t9k-Parallel-run"
            data-outside={isWithin(run, axes, brushes) ? undefined : true}
            d={path(run)}
            strokeDasharray={dashOf(model.styleOf(run)).join(' ')}
            style={{ stroke: `var(${colourName(model.styleOf(run))})` }}
          >
            <title>{labels.get(run.id)}</title>
          </path>
        ))}
        {axes.map((axis, index) => (
          <Axis key={axis.key} {...props} axis={axis} x={xOf(index)} />
        ))}
      </svg>
      <div className="jp-t9k-Parallel-notes jp-t9k-caption">
        {axes.map((axis, index) => {
          const brush = brushes.get(axis.key);
          return (
            <span key={axis.key} style={{ left: xOf(index) }}>
              {brush
                ? conditionOf(axis, brush)
                : axis.isTurned && trans.__('less is better, so turned')}
            </span>
          );
        })}
      </div>
    </div>
  );
}

function yOf(position: number): number {
  return TOP + (HEIGHT - TOP - BOTTOM) * (1 - position);
}

/** Return the line of a run. A missing value is a gap. */
function pathOf(
  run: RunRow,
  axes: readonly IAxis[],
  xOf: (index: number) => number
): string {
  let isDown = false;
  return axes
    .map((axis, index) => {
      const position = positionOf(axis, run);
      if (position === null) {
        isDown = false;
        return '';
      }
      const command = isDown ? 'L' : 'M';
      isDown = true;
      return `${command}${xOf(index).toFixed(1)} ${yOf(position).toFixed(1)}`;
    })
    .join('');
}

interface IAxisProps extends IParallelProps {
  axis: IAxis;
  x: number;
}

/** An axis with its labels, on which a range can be marked. */
function Axis(props: IAxisProps): React.JSX.Element {
  const { axis, x, brushes, trans } = props;
  const brush = brushes.get(axis.key);
  const from = React.useRef<number | null>(null);
  const set = (next: Brush | null): void => {
    const changed = new Map(brushes);
    if (next) {
      changed.set(axis.key, next);
    } else {
      changed.delete(axis.key);
    }
    props.setBrushes(changed);
  };
  const at = (event: React.PointerEvent<SVGElement>): number => {
    const { top } = (
      event.currentTarget.ownerSVGElement ?? event.currentTarget
    ).getBoundingClientRect();
    const position = 1 - (event.clientY - top - TOP) / (HEIGHT - TOP - BOTTOM);
    return Math.min(1, Math.max(0, position));
  };
  const drag = (event: React.PointerEvent<SVGElement>): void => {
    if (from.current !== null) {
      const to = at(event);
      const range: Brush = [
        Math.min(from.current, to),
        Math.max(from.current, to)
      ];
      set(range[1] - range[0] > 0.01 ? range : null);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const next = brushByKey(brush ?? [0, 1], event.key, event.shiftKey);
    if (next !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      set(next);
    }
  };
  return (
    <g>
      <line
        className="jp-t9k-Parallel-axis"
        x1={x}
        x2={x}
        y1={TOP}
        y2={HEIGHT - BOTTOM}
      />
      {labelsOf(axis).map(({ position, value }) => (
        <text key={position} x={x - 6} y={yOf(position) + 4} textAnchor="end">
          {shorten(
            typeof value === 'number' ? formatValue(value) : formatScalar(value)
          )}
        </text>
      ))}
      {brush && (
        <rect
          className="jp-t9k-Parallel-brush"
          x={x - BRUSH_WIDTH / 4}
          width={BRUSH_WIDTH / 2}
          y={yOf(brush[1])}
          height={yOf(brush[0]) - yOf(brush[1])}
        />
      )}
      <rect
        className="jp-t9k-Parallel-target"
        x={x - BRUSH_WIDTH / 2}
        width={BRUSH_WIDTH}
        y={TOP}
        height={HEIGHT - TOP - BOTTOM}
        role="slider"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label={trans.__('Range of %1', axis.name)}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(100 * (brush?.[1] ?? 1))}
        aria-valuetext={
          brush ? conditionOf(axis, brush) : trans.__('all values')
        }
        onKeyDown={onKeyDown}
        onPointerDown={event => {
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = at(event);
        }}
        onPointerMove={drag}
        onPointerUp={event => {
          drag(event);
          if (from.current === at(event)) {
            set(null);
          }
          from.current = null;
        }}
      >
        <title>
          {trans.__(
            'Drag to mark a range of %1. Up and Down move its upper end, with Shift its lower end.',
            axis.name
          )}
        </title>
      </rect>
    </g>
  );
}

/** Return the range after a key: null removes the range, undefined is another key. */
function brushByKey(
  [low, high]: Brush,
  key: string,
  isLower: boolean
): Brush | null | undefined {
  if (key === 'Escape') {
    return null;
  }
  const by = { ArrowUp: STEP, ArrowDown: -STEP }[key];
  if (by === undefined) {
    return undefined;
  }
  const range: Brush = isLower
    ? [Math.min(high - STEP, Math.max(0, low + by)), high]
    : [low, Math.max(low + STEP, Math.min(1, high + by))];
  return range[0] <= 0 && range[1] >= 1 ? null : range;
}

interface IAxisNameProps extends IParallelProps {
  axis: IAxis;
  index: number;
  x: number;
  /** Distance between two axes in px. */
  spacing: number;
}

/** Name of an axis; dragging it or the arrow keys move the axis. */
function AxisName(props: IAxisNameProps): React.JSX.Element {
  const { axis, index, x, spacing, axes, move, trans } = props;
  const from = React.useRef<number | null>(null);
  const clamp = (to: number): number =>
    Math.min(axes.length - 1, Math.max(0, to));
  return (
    <button
      type="button"
      className="jp-t9k-Parallel-name"
      style={{ left: x, maxWidth: Math.max(40, spacing - 8) }}
      title={trans.__(
        '%1: drag or use the arrow keys to move the axis',
        axis.name
      )}
      aria-label={trans.__(
        'Axis %1, place %2 of %3',
        axis.name,
        index + 1,
        axes.length
      )}
      onKeyDown={event => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by !== undefined) {
          event.preventDefault();
          move(axis.key, clamp(index + by));
        }
      }}
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = event.clientX;
      }}
      onPointerUp={event => {
        if (from.current !== null) {
          const places = Math.round((event.clientX - from.current) / spacing);
          if (places !== 0) {
            move(axis.key, clamp(index + places));
          }
        }
        from.current = null;
      }}
    >
      {axis.name}
    </button>
  );
}

function shorten(text: string): string {
  return text.length > 12 ? `${text.slice(0, 11)}…` : text;
}
