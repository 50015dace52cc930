/** The tab of resources: choice, findings, charts or table. Loaded when it is shown for the first time. */
import { TranslationBundle } from '@jupyterlab/translation';
import { downloadIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import '../../../style/experiments/charts.css';
import '../../../style/job/resources.css';
import { Key } from '../../experiments/charts/Key';
import { ReadingLine } from '../../experiments/charts/readingLine';
import { Job, LogMarker, Replica, ResourceView } from '../../api/types';
import { formatDuration } from '../../common/format';
import { useAfter, useSignal } from '../../common/hooks';
import { csvOf, saveText } from '../../common/saveFile';
import { isActive } from '../../jobs/phase';
import { Banner } from '../../ui/Banner';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { Segments } from '../../ui/Segments';
import { JobTabModel } from '../model/jobTab';
import { ResourcesClient } from './client';
import { Arrangement, arrangementOf, markersOn } from './layout';
import { By, ResourcesModel, Span } from './model';
import { legendOf, nameOf } from './names';
import { ResourceTable } from './ResourceTable';
import { Rows } from './Rows';
import { MarkerSign } from './TimeAxis';

interface IResourcesPaneProps {
  model: JobTabModel;
  job: Job;
  replicas: readonly Replica[];
  trans: TranslationBundle;
}

/** Use of resources by a job. */
export function ResourcesPane(props: IResourcesPaneProps): React.JSX.Element {
  const { model, job, replicas, trans } = props;
  const [resources] = React.useState(
    () =>
      new ResourcesModel(
        new ResourcesClient(model.jobs.api.serverSettings),
        model.id,
        job.replicas > 1 ? 'replica' : 'unit'
      )
  );
  const [line] = React.useState(() => new ReadingLine());
  useSignal(resources.changed);
  const { resourcesAt } = model;
  React.useEffect(() => {
    if (resourcesAt) {
      line.hold(resourcesAt.time);
    }
  }, [line, resourcesAt]);
  const { isVisible } = model;
  const canGrow = isActive(job);
  React.useEffect(() => {
    resources.setActive(isVisible, canGrow);
  }, [resources, isVisible, canGrow]);
  React.useEffect(() => () => resources.setActive(false, false), [resources]);
  const isSlow = useAfter(resources.view === null, 300);
  const { view, failure } = resources;
  if (view === null) {
    return failure ? (
      <Banner level="error" title={failure.message}>
        {failure.hint}
      </Banner>
    ) : (
      <p className="jp-t9k-LogEmpty" role="status">
        {isSlow ? trans.__('Reading the samples…') : ''}
      </p>
    );
  }
  const showLine = ({ stream, offset }: LogMarker): void =>
    void model.show('logs', { stream, offset });
  const showTime = (time: number): void => void model.show('logs', { time });
  return (
    <div className="jp-t9k-Resources">
      <Content
        {...{ view, resources, job, replicas, line, trans }}
        {...{ showLine, showTime }}
      />
    </div>
  );
}

interface IContentProps {
  view: ResourceView;
  resources: ResourcesModel;
  job: Job;
  replicas: readonly Replica[];
  line: ReadingLine;
  showLine(marker: LogMarker): void;
  showTime(time: number): void;
  trans: TranslationBundle;
}

function Content(props: IContentProps): React.JSX.Element {
  const { view, resources, trans } = props;
  const [asTable, setAsTable] = React.useState(false);
  const [metric, setMetric] = React.useState('');
  const hasValues = view.rows.some(({ curves }) => curves.length > 0);
  const arrangement = arrangementOf(view);
  const markers = markersOn(view, resources.markers);
  return (
    <>
      <Toolbar
        {...{ ...props, arrangement, markers }}
        {...{ asTable, setAsTable, metric, setMetric }}
      />
      <Findings view={view} trans={trans} showTime={props.showTime} />
      {resources.failure && (
        <Banner level="warning" title={resources.failure.message}>
          {trans.__('The last samples that were read are shown.')}
        </Banner>
      )}
      {view.trouble && (
        <Banner level="warning" title={view.trouble.sentence}>
          {view.trouble.hint}
        </Banner>
      )}
      <div
        className="jp-t9k-Resources-body"
        role="region"
        aria-label={trans.__('Resources')}
        // The charts take the focus themselves; a table that is scrolled needs it for the keys.
        tabIndex={asTable ? 0 : undefined}
      >
        {!hasValues ? (
          <Nothing view={view} trans={trans} />
        ) : asTable ? (
          <ResourceTable view={view} trans={trans} />
        ) : (
          <Rows {...{ ...props, arrangement, metric, markers }} />
        )}
        <Footer {...props} />
      </div>
    </>
  );
}

interface IToolbarProps extends IContentProps {
  arrangement: Arrangement;
  markers: readonly LogMarker[];
  asTable: boolean;
  setAsTable(asTable: boolean): void;
  metric: string;
  setMetric(metric: string): void;
}

function Toolbar(props: IToolbarProps): React.JSX.Element {
  const { view, resources, job, arrangement, markers, asTable, trans } = props;
  const { by, span } = resources;
  const hasGpus = view.rows.some(
    ({ metric, curves }) => metric === 'gpu_use' && curves.length > 0
  );
  const rows = view.rows.filter(({ curves }) => curves.length > 0);
  const kinds = new Set(markers.map(({ kind }) => kind));
  const spans: { value: Span; label: string }[] = [
    { value: 'all', label: trans.__('Whole run') }
  ];
  if ((view.last ?? 0) - (view.first ?? 0) > 3600) {
    spans.unshift({ value: 'hour', label: trans.__('1 h') });
  }
  if (isActive(job)) {
    spans.push({ value: 'live', label: trans.__('Live') });
  }
  return (
    <div className="jp-t9k-ResourceToolbar">
      <Segments<By>
        aria-label={trans.__('Curves')}
        value={by}
        onChange={value => resources.choose({ by: value })}
        segments={[
          { value: 'sum', label: trans.__('Sum') },
          ...(job.replicas > 1
            ? [{ value: 'replica' as const, label: trans.__('Each replica') }]
            : []),
          {
            value: 'unit',
            label: hasGpus ? trans.__('Each GPU') : trans.__('Each rank')
          }
        ]}
      />
      {(spans.length > 1 || span !== 'all') && (
        <Segments<Span>
          aria-label={trans.__('Time')}
          value={span}
          onChange={value => resources.choose({ span: value })}
          segments={spans}
        />
      )}
      {arrangement === 'replicas' && !asTable && (
        <label className="jp-t9k-ResourceToolbar-metric">
          <span className="jp-t9k-caption">{trans.__('Metric')}</span>
          <select
            value={props.metric || rows[0]?.metric}
            onChange={event => props.setMetric(event.target.value)}
          >
            {rows.map(({ metric, title }) => (
              <option key={metric} value={metric}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
      <ul className="jp-t9k-ResourceLegend">
        {!asTable &&
          legendOf(view, arrangement !== 'metrics', trans).map(
            (name, index) => (
              <li key={name}>
                <Key style={index} />
                {name}
              </li>
            )
          )}
        {(['checkpoint', 'warning', 'error'] as const)
          .filter(kind => !asTable && kinds.has(kind))
          .map(kind => (
            <li key={kind}>
              <MarkerSign kind={kind} />
              {
                {
                  checkpoint: trans.__('checkpoint'),
                  warning: trans.__('warning'),
                  error: trans.__('error')
                }[kind]
              }
            </li>
          ))}
      </ul>
      <span className="jp-t9k-ResourceToolbar-source jp-t9k-caption">
        {sourceOf(view, trans)}
      </span>
      <Segments<'charts' | 'table'>
        aria-label={trans.__('View')}
        value={asTable ? 'table' : 'charts'}
        onChange={value => props.setAsTable(value === 'table')}
        segments={[
          { value: 'charts', label: trans.__('Charts') },
          { value: 'table', label: trans.__('Table') }
        ]}
      />
      <IconButton
        icon={downloadIcon}
        label={trans.__('Download the shown values (CSV)')}
        onClick={() =>
          saveText(
            csvOf(cellsOf(view, trans)),
            `${job.name}-resources.csv`,
            'text/csv'
          )
        }
      />
    </div>
  );
}

/** Return source and resolution in words; the resolution of the points only if it differs from the source's. */
function sourceOf(view: ResourceView, trans: TranslationBundle): string {
  const { source_label: label, resolution, interval } = view;
  if (label === null) {
    return '';
  }
  return resolution !== null && interval !== null && resolution > 1.9 * interval
    ? trans.__(
        '%1; each point is the mean of %2',
        label,
        formatDuration(Math.round(resolution), trans)
      )
    : label;
}

function Findings(props: {
  view: ResourceView;
  showTime(time: number): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { view, trans } = props;
  return (
    <>
      {view.findings.map(finding => (
        <Banner
          key={`${finding.code} ${finding.sentence}`}
          level="warning"
          title={finding.sentence}
          actions={
            <LinkButton onClick={() => props.showTime(finding.since)}>
              {trans.__('Log of that time')}
            </LinkButton>
          }
        >
          {finding.evidence} {finding.check}
        </Banner>
      ))}
    </>
  );
}

/** Explains why there are no charts. */
function Nothing({
  view,
  trans
}: {
  view: ResourceView;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { unavailable, interval } = view;
  if (unavailable) {
    return (
      <EmptyState title={unavailable.sentence}>
        {unavailable.hint && <p>{unavailable.hint}</p>}
        {unavailable.verbatim && <pre>{unavailable.verbatim}</pre>}
      </EmptyState>
    );
  }
  return (
    <EmptyState title={trans.__('No samples yet')}>
      <p>
        {interval === null
          ? trans.__('They are taken while the job runs.')
          : trans.__(
              'The first samples come about %1 s after the job has started.',
              Math.round(interval)
            )}
      </p>
    </EmptyState>
  );
}

/** Totals of the job, metrics without a source, and the log at the reading line. */
function Footer(props: IContentProps): React.JSX.Element {
  const { view, line, trans } = props;
  useSignal(line.changed);
  const { usage, rows } = view;
  const missing = rows.flatMap(row => row.missing ?? []);
  const { at } = line;
  return (
    <div className="jp-t9k-ResourceFooter">
      {usage.gpu_hours !== null && (
        <p>
          <strong>
            {trans.__('%1 GPU-hours', usage.gpu_hours.toFixed(2))}
          </strong>{' '}
          <span className="jp-t9k-caption">{usage.gpu_hours_source}</span>
        </p>
      )}
      {usage.energy_joules !== null && (
        <p>
          <strong>
            {trans.__('%1 kWh', (usage.energy_joules / 3.6e6).toFixed(3))}
          </strong>{' '}
          <span className="jp-t9k-caption">{usage.energy_source}</span>
        </p>
      )}
      {missing.map(sentence => (
        <p key={sentence}>{sentence}</p>
      ))}
      {at !== null && (
        <p>
          <LinkButton onClick={() => props.showTime(at)}>
            {trans.__('Log at the reading line')}
          </LinkButton>
        </p>
      )}
    </div>
  );
}

/** Return the mean of each curve at each time, in the units of the API (bytes, cores, percent, watts). */
function cellsOf(
  view: ResourceView,
  trans: TranslationBundle
): (string | number | null)[][] {
  const curves = view.rows.flatMap(row =>
    row.curves.map(curve => ({
      name: [row.metric, curve.replica, nameOf(curve, trans)]
        .filter(Boolean)
        .join(' '),
      values: curve.mean
    }))
  );
  return [
    ['time', ...curves.map(({ name }) => name)],
    ...view.times.map((time, index) => [
      new Date(time * 1000).toISOString(),
      ...curves.map(({ values }) => values[index])
    ])
  ];
}

export default ResourcesPane;
