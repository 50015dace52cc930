/** View of the comparison of a sweep's jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatDuration, formatMetric } from '../../common/format';
import { useSignal } from '../../common/hooks';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { stateOf, stateWord } from '../../jobs/phase';
import { ranSeconds } from '../../jobs/runtime';
import { CommandIDs } from '../../tokens';
import { Banner } from '../../ui/Banner';
import { Button, LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { Segments } from '../../ui/Segments';
import { compareCells, Grid, IColumn, ISort } from '../../ui/table/Table';
import { errorIcon, tensorBoardIcon } from '../../ui/icons';
import { Goal, IResultRow, ResultsModel } from './results';

/** Props of `ResultsView`. */
interface IResultsViewProps {
  model: ResultsModel;
  /** Executes a command of the lab. */
  run(command: string, args: Record<string, string | string[]>): void;
  trans: TranslationBundle;
}

/** Shows the jobs of a sweep in a table with their values, states and one metric. */
export function ResultsView(props: IResultsViewProps): React.JSX.Element {
  const { model, trans } = props;
  const [sort, setSort] = React.useState<ISort>({ key: 'best', down: false });
  useSignal(model.changed, 250);
  const columns = columnsOf(props);
  const column = columns.find(({ key }) => key === sort.key);
  const rows = [...model.rows];
  const valueOf = column?.order;
  if (valueOf) {
    rows.sort((a, b) => compareCells(valueOf(a), valueOf(b)));
  }
  if (sort.down) {
    rows.reverse();
  }
  if (rows.length === 0) {
    return (
      <EmptyState
        icon={errorIcon}
        title={trans.__('The jobs of this sweep were deleted')}
      />
    );
  }
  return (
    <div className="jp-t9k-NodesView">
      <Toolbar {...props} />
      {model.failure && (
        <Banner
          level="warning"
          title={trans.__('The metrics could not be read.')}
          actions={
            <LinkButton onClick={() => void model.refresh()}>
              {trans.__('Try now')}
            </LinkButton>
          }
        >
          {model.failure.message}
        </Banner>
      )}
      <Grid<IResultRow>
        label={trans.__('Jobs of the sweep')}
        className="jp-t9k-SweepResults"
        rows={rows}
        columns={columns}
        sort={sort}
        onSort={setSort}
      />
    </div>
  );
}

/** The choice of the metric, and TensorBoard. */
function Toolbar({ model, run, trans }: IResultsViewProps): React.JSX.Element {
  const { metrics, metric, logDirs } = model;
  return (
    <div className="jp-t9k-NodesView-toolbar">
      {metric === null ? (
        <span className="jp-t9k-caption">
          {model.isLoading
            ? trans.__('Reading the metrics…')
            : !model.failure &&
              trans.__('No job has reported a metric that this lab can read.')}
        </span>
      ) : (
        <>
          <label className="jp-t9k-SweepResults-metric">
            {trans.__('Metric')}{' '}
            <select
              value={metric}
              onChange={event => model.chooseMetric(event.target.value)}
            >
              {metrics.map(name => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <Segments<Goal>
            aria-label={trans.__('Best value')}
            segments={[
              { value: 'minimize', label: trans.__('Lower is better') },
              { value: 'maximize', label: trans.__('Higher is better') }
            ]}
            value={model.goal}
            onChange={goal => model.chooseGoal(goal)}
          />
        </>
      )}
      <span className="jp-t9k-SweepResults-space" />
      {logDirs.length > 0 && (
        <Button
          icon={tensorBoardIcon}
          onClick={() =>
            run(CommandIDs.openTensorBoard, { paths: [...logDirs] })
          }
        >
          {trans.__('Open all in one TensorBoard')}
        </Button>
      )}
    </div>
  );
}

function columnsOf({
  model,
  run,
  trans
}: IResultsViewProps): IColumn<IResultRow>[] {
  const { fields, metric, goal } = model;
  const sign = goal === 'minimize' ? 1 : -1;
  const best = Math.min(
    ...model.rows.flatMap(row =>
      row.metric ? [sign * model.best(row.metric)] : []
    )
  );
  const metricColumns: IColumn<IResultRow>[] = [
    {
      key: 'best',
      label: trans.__('Best %1', metric ?? ''),
      className: 'jp-t9k-right',
      order: row => (row.metric ? sign * model.best(row.metric) : Infinity),
      cell: row => {
        if (!row.metric) {
          return '–';
        }
        const value = model.best(row.metric);
        return sign * value === best ? (
          <>
            <small className="jp-t9k-caption">{trans.__('best')}</small>{' '}
            <strong>{formatMetric(value)}</strong>
          </>
        ) : (
          formatMetric(value)
        );
      }
    },
    {
      key: 'last',
      label: trans.__('Last %1', metric ?? ''),
      className: 'jp-t9k-right',
      order: row => (row.metric ? sign * row.metric.last : Infinity),
      cell: row => (row.metric ? formatMetric(row.metric.last) : '–')
    },
    {
      key: 'step',
      label: trans.__('Step'),
      title: trans.__(
        'Step of the last value; the number of values if they are from the log'
      ),
      className: 'jp-t9k-right',
      order: row => row.metric?.at ?? -1,
      cell: row => row.metric?.at ?? '–'
    }
  ];
  return [
    {
      key: 'name',
      label: trans.__('Name'),
      order: row => row.job.name,
      cell: row => (
        <LinkButton onClick={() => run(CommandIDs.openJob, { id: row.name })}>
          {row.job.name}
        </LinkButton>
      )
    },
    ...fields.map(field => ({
      key: `field:${field}`,
      label: field,
      className: 'jp-t9k-SweepResults-value',
      order: (row: IResultRow) => valueOrder(row.job.sweep?.values[field]),
      cell: (row: IResultRow) => row.job.sweep?.values[field] ?? ''
    })),
    ...(metric === null ? [] : metricColumns),
    {
      key: 'state',
      label: trans.__('State'),
      order: row => stateWord(stateOf(row.job), trans),
      titleOf: row => row.job.reason?.sentence ?? '',
      cell: row => {
        const state = stateOf(row.job);
        return (
          <>
            <PhaseIcon state={state} size={14} /> {stateWord(state, trans)}
          </>
        );
      }
    },
    {
      key: 'duration',
      label: trans.__('Duration'),
      className: 'jp-t9k-right',
      order: row => ranSeconds(row.job),
      cell: row =>
        row.job.started_at === null
          ? '–'
          : formatDuration(ranSeconds(row.job), trans)
    }
  ];
}

/** Return a number for a numeric value, so that 1e-4 is before 0.01; else the text. */
function valueOrder(value = ''): number | string {
  return value.trim() !== '' && Number.isFinite(Number(value))
    ? Number(value)
    : value;
}
