/** Charts of the use of resources: one for each metric, or metrics × replicas. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ReadingLine } from '../../experiments/charts/readingLine';
import { LogMarker, Replica, ResourceRow, ResourceView } from '../../api/types';
import { formatClock, listed } from '../../common/format';
import { useSignal } from '../../common/hooks';
import { LinkButton } from '../../ui/Buttons';
import { IScale, scaleOf } from './amounts';
import {
  Arrangement,
  Curve,
  extentOf,
  Level,
  stretchesOf,
  topOf
} from './layout';
import { factsOf, nameOf } from './names';
import { ResourceChart } from './ResourceChart';
import { TimeAxis } from './TimeAxis';

const TALL = 170;
const LOW = 82;
/** Height of the labels of the axis of time, in px. */
const TIMES = 20;

/** Properties of the charts. */
export interface IRowsProps {
  view: ResourceView;
  arrangement: Arrangement;
  /** Metric that is shown if the replicas have a chart each. */
  metric: string;
  replicas: readonly Replica[];
  markers: readonly LogMarker[];
  line: ReadingLine;
  showLine(marker: LogMarker): void;
  /** Show the log at a time. */
  showTime(time: number): void;
  trans: TranslationBundle;
}

/** All charts. */
export function Rows(props: IRowsProps): React.JSX.Element {
  switch (props.arrangement) {
    case 'columns':
      return <Columns {...props} />;
    case 'replicas':
      return <ReplicaGrid {...props} />;
    default:
      return <MetricGrid {...props} />;
  }
}

/** Props that all charts of a row share. */
interface IShared {
  scale: IScale;
  top: number;
  levels: readonly Level[];
}

function sharedBy(row: ResourceRow, trans: TranslationBundle): IShared {
  const { top, levels } = topOf(row);
  return { top, levels, scale: scaleOf(row.unit, top / 1.1, trans) };
}

/** A chart for each metric, two side by side. */
function MetricGrid(props: IRowsProps): React.JSX.Element {
  const { view, trans } = props;
  const rows = view.rows.filter(({ curves }) => curves.length > 0);
  return (
    <div className="jp-t9k-ResourceGrid">
      {rows.map((row, index) => (
        <section key={row.metric} aria-label={row.title}>
          {index < 2 && <Axis {...props} replica={null} />}
          <RowTitle row={row} shared={sharedBy(row, trans)} trans={trans} />
          <ChartOf
            {...props}
            row={row}
            curves={row.curves}
            height={TALL}
            hasTimes
          />
          {row.scope !== null && <p className="jp-t9k-caption">{row.scope}</p>}
        </section>
      ))}
    </div>
  );
}

/** Metrics as rows, replicas as columns. */
function Columns(props: IRowsProps): React.JSX.Element {
  const { view, replicas, line, trans } = props;
  useSignal(line.changed);
  const { at } = line;
  const rows = view.rows.filter(({ curves }) => curves.length > 0);
  const style = {
    gridTemplateColumns: `150px repeat(${view.replicas.length}, minmax(0, 1fr))`
  };
  return (
    <div className="jp-t9k-ResourceColumns">
      <div className="jp-t9k-ResourceColumns-row" style={style}>
        <div className="jp-t9k-ResourceColumns-names">
          <span>{trans.__('Attempts')}</span>
          <span>{trans.__('Log')}</span>
        </div>
        {view.replicas.map(name => {
          const replica = replicas.find(each => each.name === name);
          return (
            <section key={name} aria-label={name}>
              <header>
                <strong>{name}</strong>
                <span className="jp-t9k-caption">
                  {whereOf(replica, trans)}
                </span>
                {at !== null && (
                  <LinkButton onClick={() => props.showTime(at)}>
                    {trans.__('Log at %1', formatClock(at, true))}
                  </LinkButton>
                )}
              </header>
              <Axis {...props} replica={name} />
            </section>
          );
        })}
      </div>
      {rows.map((row, index) => {
        const shared = sharedBy(row, trans);
        const isLast = index === rows.length - 1;
        const common = row.curves.filter(({ replica }) => replica === null);
        return (
          <div
            key={row.metric}
            className="jp-t9k-ResourceColumns-row"
            style={style}
          >
            <div className="jp-t9k-ResourceColumns-label">
              <strong>{row.title}</strong>
              <span className="jp-t9k-caption" title={row.scope ?? undefined}>
                {listed([shared.scale.name, row.scope])}
              </span>
              {factsOf(row, trans).map(fact => (
                <span key={fact}>{fact}</span>
              ))}
            </div>
            {common.length > 0 ? (
              <div style={{ gridColumn: '2 / -1' }}>
                <ChartOf
                  {...{ ...props, row, curves: common }}
                  height={LOW + (isLast ? TIMES : 0)}
                  hasTimes={isLast}
                />
              </div>
            ) : (
              view.replicas.map(name => (
                <div key={name}>
                  <span className="jp-t9k-ResourceColumns-name jp-t9k-caption">
                    {name}
                  </span>
                  <ChartOf
                    {...{ ...props, row }}
                    replica={name}
                    curves={row.curves.filter(
                      ({ replica }) => replica === name
                    )}
                    height={LOW + (isLast ? TIMES : 0)}
                    hasTimes={isLast}
                  />
                </div>
              ))
            )}
          </div>
        );
      })}
    </div>
  );
}

/** One metric, with a small chart for each replica. */
function ReplicaGrid(props: IRowsProps): React.JSX.Element {
  const { view, metric, replicas, trans } = props;
  const row =
    view.rows.find(each => each.metric === metric && each.curves.length > 0) ??
    view.rows.find(({ curves }) => curves.length > 0);
  if (!row) {
    return <></>;
  }
  const names = [...new Set(row.curves.map(({ replica }) => replica))];
  return (
    <>
      <RowTitle row={row} shared={sharedBy(row, trans)} trans={trans} />
      <div className="jp-t9k-ResourceGrid" data-small>
        {names.map((name, index) => (
          <section key={name} aria-label={name ?? undefined}>
            <header>
              <strong>{name ?? trans.__('Whole job')}</strong>
              <span className="jp-t9k-caption">
                {whereOf(
                  replicas.find(each => each.name === name),
                  trans
                )}
              </span>
            </header>
            {index < 3 && <Axis {...props} replica={name} />}
            <ChartOf
              {...{ ...props, row }}
              replica={name}
              curves={row.curves.filter(({ replica }) => replica === name)}
              height={LOW + TIMES}
              hasTimes
            />
          </section>
        ))}
      </div>
    </>
  );
}

/** Name and unit of a metric, with its single figures. */
function RowTitle({
  row,
  shared,
  trans
}: {
  row: ResourceRow;
  shared: IShared;
  trans: TranslationBundle;
}): React.JSX.Element {
  const above = row.levels.filter(level => !shared.levels.includes(level));
  return (
    <header>
      <h3>{row.title}</h3>
      <span className="jp-t9k-caption">{shared.scale.name}</span>
      <span className="jp-t9k-ResourceGrid-facts">
        {[...factsOf(row, trans), ...above.map(({ label }) => label)].join(
          ' · '
        )}
      </span>
    </header>
  );
}

/** Attempts and markers of a replica; of all replicas if none is named. */
function Axis(
  props: IRowsProps & { replica: string | null }
): React.JSX.Element {
  const { view, replicas, markers, replica, trans } = props;
  return (
    <TimeAxis
      extent={extentOf(view)}
      stretches={stretchesOf(replicas, replica)}
      markers={markers.filter(
        marker => replica === null || marker.replica === replica
      )}
      showLine={props.showLine}
      trans={trans}
    />
  );
}

interface IChartOfProps extends IRowsProps {
  row: ResourceRow;
  curves: readonly Curve[];
  replica?: string | null;
  height: number;
  hasTimes: boolean;
}

function ChartOf(props: IChartOfProps): React.JSX.Element {
  const { view, row, curves, replicas, line, trans } = props;
  const replica = props.replica ?? null;
  const shared = React.useMemo(() => sharedBy(row, trans), [row, trans]);
  // Only an answer of the server brings other curves.
  const shown = React.useMemo(
    () =>
      row.curves.filter(each => replica === null || each.replica === replica),
    [row, replica]
  );
  const pauses = React.useMemo(() => {
    const stretches = stretchesOf(replicas, replica);
    return stretches.slice(1).flatMap((next, index) => {
      const { last } = stretches[index];
      return last === null ? [] : [[last, next.first] as const];
    });
  }, [replicas, replica]);
  return (
    <ResourceChart
      {...{ view, row, line, trans, pauses, ...shared }}
      curves={curves.length === shown.length ? shown : curves}
      label={listed([row.title, replica])}
      names={curves.map(curve => nameOf(curve, trans))}
      height={props.height}
      hasTimes={props.hasTimes}
    />
  );
}

/** Return node and ranks of a replica: “node-5, ranks 0 – 3”. */
function whereOf(
  replica: Replica | undefined,
  trans: TranslationBundle
): string {
  if (!replica) {
    return '';
  }
  const { ranks, node } = replica;
  const text =
    ranks.length === 0
      ? ''
      : ranks.length === 1
        ? trans.__('rank %1', ranks[0])
        : trans.__('ranks %1 – %2', ranks[0], ranks[ranks.length - 1]);
  return listed([node, text]);
}
