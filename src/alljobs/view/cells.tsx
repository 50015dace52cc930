/** Cells of a job, and of a sweep. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobState } from '../../api/aliases';
import { EngineInfo, JobSummary } from '../../api/types';
import { serverNow } from '../../common/clock';
import {
  formatExact,
  formatMetric,
  listed,
  wholePercent
} from '../../common/format';
import { useTicking } from '../../common/hooks';
import { hasBar, iconStateOf, stateOf, stateWord } from '../../jobs/phase';
import { jobSentence } from '../../jobs/sentence';
import { ProgressBar } from '../../ui/ProgressBar';
import { stateIcons } from '../../ui/icons';
import { goalOf, IJobColumn, metricOf } from '../model/columns';
import {
  durationOf,
  gpuHours,
  gpusOf,
  sumOfHours,
  waitedOf
} from '../model/facts';
import {
  commonState,
  countsText,
  durationText,
  gpuHoursText,
  ownerText,
  locationText,
  timeText
} from './text';

/** Data that cells need in addition to their job. */
export interface ICellContext {
  engines: readonly EngineInfo[];
  /** True if the jobs of the table are in several namespaces. */
  hasNamespaces: boolean;
  trans: TranslationBundle;
}

interface ICellProps extends ICellContext {
  job: JobSummary;
  column: IJobColumn;
}

/** Return the tooltip of a cell whose text may be cut. */
export function cellTitle(
  job: JobSummary,
  column: IJobColumn,
  context: ICellContext
): string {
  switch (column.kind) {
    case 'state':
      return jobSentence(job, context.trans);
    case 'created':
    case 'started':
    case 'ended': {
      const time = job[`${column.kind}_at`];
      return time === null ? '' : formatExact(time);
    }
    case 'where':
      return locationText(job, context.engines, true);
    case 'node':
      return listed(job.nodes);
    case 'metric':
      return String(metricOf(job, column.name) ?? '');
    default:
      return '';
  }
}

/** The content of a cell. A value that is not known is an empty cell. */
export function Cell(props: ICellProps): React.JSX.Element | null {
  const { job, column, engines, hasNamespaces, trans } = props;
  switch (column.kind) {
    case 'state':
      return <State job={job} trans={trans} />;
    case 'progress':
      return hasBar(job) ? <Progress job={job} trans={trans} /> : null;
    case 'owner':
      return <>{ownerText(job, trans)}</>;
    case 'where':
      return <>{locationText(job, engines, hasNamespaces)}</>;
    case 'node':
      return <>{nodesText(job.nodes)}</>;
    case 'queue':
      return <>{job.queue}</>;
    case 'gpus':
      return <>{gpusOf(job)}</>;
    case 'allocated':
      return <>{gpusOf(job) === null ? null : job.devices_held}</>;
    case 'created':
    case 'started':
    case 'ended':
      return <>{timeText(job[`${column.kind}_at`], trans)}</>;
    case 'waited':
      return <Ticking text={now => durationText(waitedOf(job, now), trans)} />;
    case 'duration':
      return (
        <Ticking text={now => durationText(durationOf(job, now), trans)} />
      );
    case 'hours':
      return <Ticking text={now => gpuHoursText(gpuHours(job, now))} />;
    case 'restarts':
      return <>{job.restarts || null}</>;
    case 'metric':
      return <>{metricText(metricOf(job, column.name))}</>;
    default:
      return null;
  }
}

interface ISweepCellProps extends ICellContext {
  jobs: readonly JobSummary[];
  column: IJobColumn;
}

/** The content of a sweep's cell: a sum, the best value, or the value that all jobs share. */
export function SweepCell(props: ISweepCellProps): React.JSX.Element | null {
  const { jobs, column, engines, hasNamespaces, trans } = props;
  const shared = (text: (job: JobSummary) => string): React.JSX.Element => {
    const texts = new Set(jobs.map(text));
    return <>{texts.size === 1 ? [...texts][0] : null}</>;
  };
  switch (column.kind) {
    case 'state':
      return (
        <StateText
          state={commonState(jobs)}
          text={countsText(jobs, trans)}
          trans={trans}
        />
      );
    case 'owner':
      return shared(job => ownerText(job, trans));
    case 'where':
      return shared(job => locationText(job, engines, hasNamespaces));
    case 'node':
      return shared(job => nodesText(job.nodes));
    case 'queue':
      return shared(job => job.queue ?? '');
    case 'gpus': {
      const gpus = gpusOf(jobs[0]);
      return gpus !== null && jobs.every(job => gpusOf(job) === gpus) ? (
        <>{`${jobs.length} × ${gpus}`}</>
      ) : null;
    }
    case 'created':
      return (
        <>
          {timeText(
            Math.min(...jobs.map(({ created_at }) => created_at)),
            trans
          )}
        </>
      );
    case 'started': {
      const times = jobs.flatMap(({ started_at }) => started_at ?? []);
      return <>{times.length > 0 && timeText(Math.min(...times), trans)}</>;
    }
    case 'hours':
      return <Ticking text={now => gpuHoursText(sumOfHours(jobs, now))} />;
    case 'metric': {
      const best = bestOf(jobs, column.name);
      return best === null ? null : (
        <>
          <small>{trans.__('best')}</small>{' '}
          <strong>{formatMetric(best)}</strong>
        </>
      );
    }
    default:
      return null;
  }
}

/** Return the best value of a metric; null if it is not known which value is better. */
function bestOf(jobs: readonly JobSummary[], metric: string): number | null {
  const goal = goalOf(metric);
  const values = jobs.flatMap(job => metricOf(job, metric) ?? []);
  if (goal === null || values.length === 0) {
    return null;
  }
  return goal === 'min' ? Math.min(...values) : Math.max(...values);
}

function nodesText(nodes: readonly string[]): string {
  return nodes.length > 1 ? `${nodes[0]}, …` : (nodes[0] ?? '');
}

function metricText(value: number | null): string {
  return value === null ? '' : formatMetric(value);
}

function Ticking({ text }: { text(now: number): string }): React.JSX.Element {
  return <>{useTicking(() => text(serverNow()))}</>;
}

function State({
  job,
  trans
}: {
  job: JobSummary;
  trans: TranslationBundle;
}): React.JSX.Element {
  const text = useTicking(() => jobSentence(job, trans, true));
  return <StateText state={iconStateOf(job)} text={text} trans={trans} />;
}

/**
 * A state as an icon and a sentence.
 *
 * The SVG is inserted as text. JupyterLab's icon component takes ten times as long, and all rows in view are new
 * after a jump.
 */
function StateText({
  state,
  text,
  trans
}: {
  state: JobState;
  text: string;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <span className="jp-t9k-AllJobs-state" data-state={state}>
      <span
        className="jp-t9k-PhaseIcon"
        data-state={state}
        role="img"
        aria-label={stateWord(state, trans)}
        dangerouslySetInnerHTML={{
          __html: stateIcons[state].svgstr
        }}
      />
      <span>{text}</span>
    </span>
  );
}

function Progress({
  job,
  trans
}: {
  job: JobSummary;
  trans: TranslationBundle;
}): React.JSX.Element {
  const fraction = job.progress?.fraction ?? 0;
  const percent = trans.__('%1 %', wholePercent(fraction));
  return (
    <span className="jp-t9k-AllJobs-progress">
      <ProgressBar
        fraction={fraction}
        label={trans.__('Progress')}
        state={stateOf(job)}
        text={percent}
        height={4}
      />
      <span>{percent}</span>
    </span>
  );
}
