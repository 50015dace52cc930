/** Header of a job's tab: name, state, reason, progress and metrics. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import {
  EngineInfo,
  Job,
  JobCurve,
  JobCurves,
  Progress
} from '../../api/types';
import { serverNow } from '../../common/clock';
import {
  formatClock,
  formatEnd,
  formatEta,
  formatMetric,
  listed
} from '../../common/format';
import { isActive, isStalled, stateOf, stateWord } from '../../jobs/phase';
import { jobTitle } from '../../jobs/sentence';
import { LinkButton } from '../../ui/Buttons';
import { useTicking } from '../../common/hooks';
import { JobName } from '../../jobs/JobName';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { Sparkline } from '../curves/Curves';
import { curveOf } from '../curves/model';
import { ProgressBar } from '../../ui/ProgressBar';
import { ageText, sizeText, whereText, whyText } from '../model/text';

/** Number of metrics beside the progress. */
const MOST_METRICS = 2;

/** Properties of the header. */
interface IJobHeaderProps {
  job: Job;
  engines: readonly EngineInfo[];
  /** Curves of the job's metrics; null while they are unknown. */
  curves: JobCurves | null;
  /** While the connection is lost, the time of the last update in seconds since the epoch; otherwise null. */
  asOf: number | null;
  /** True if the current pane shows the failure. */
  failureBelow: boolean;
  /** Show the failure in the log. */
  showFailure(): void;
  trans: TranslationBundle;
  /** Toolbar of the job's actions. */
  children: React.ReactNode;
}

/** Header above all panes of a job: name, age, location and size; the reason of its state; progress and metrics. */
export function JobHeader(props: IJobHeaderProps): React.JSX.Element {
  const { job, engines, asOf, trans } = props;
  const state = stateOf(job);
  const age = useTicking(() => ageText(job, asOf ?? serverNow(), trans));
  // A duration that does not advance looks like a job that hangs, so the text names the time of the last update.
  const frozen = asOf !== null && isActive(job);
  const facts = [
    frozen ? trans.__('%1 (as of %2)', age, formatClock(asOf)) : age,
    whereText(job, engines, trans),
    ...(!job.mine && job.owner ? [trans._p('owner', 'of %1', job.owner)] : []),
    sizeText(job, trans)
  ].join(' · ');
  const failed = state === 'failed';
  const { progress } = job;
  const name = React.useRef<HTMLHeadingElement>(null);
  React.useEffect(() => {
    if (document.activeElement === name.current?.closest('.jp-t9k-Job')) {
      name.current?.focus(); // the tab was activated before the name existed
    }
  }, []);
  const metrics = headerMetrics(job, props.curves);
  return (
    <div className="jp-t9k-JobHeader">
      <div className="jp-t9k-JobHeader-title">
        <PhaseIcon state={state} size={18} label={stateWord(state, trans)} />
        <h2 ref={name} tabIndex={-1} title={jobTitle(job)}>
          <JobName job={job} />
        </h2>
        <span className="jp-t9k-JobHeader-facts" title={facts}>
          {facts}
        </span>
        {props.children}
      </div>
      <div className="jp-t9k-JobHeader-far">
        <div className="jp-t9k-JobHeader-story">
          {!(failed && props.failureBelow) && (
            <Why
              job={job}
              engines={engines}
              failed={failed}
              show={props.showFailure}
              trans={trans}
            />
          )}
          {progress && state !== 'succeeded' && (
            <ProgressLine
              progress={progress}
              state={state}
              running={state === 'running' && asOf === null}
              trans={trans}
            />
          )}
        </div>
        {metrics.length > 0 && (
          <dl className="jp-t9k-JobHeader-metrics">
            {metrics.map(({ name, value, curve }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{formatMetric(value)}</dd>
                {curve && <Sparkline curve={curve} />}
              </div>
            ))}
          </dl>
        )}
      </div>
    </div>
  );
}

/**
 * Return the metrics of the header with their curves: those in the log's progress, else those of the curves, losses
 * first.
 */
function headerMetrics(
  { progress }: Job,
  curves: JobCurves | null
): { name: string; value: number; curve: JobCurve | null }[] {
  const known = curves?.curves ?? [];
  const reported = Object.entries(progress?.metrics ?? {});
  return reported.length > 0
    ? reported.slice(-MOST_METRICS).map(([name, value]) => ({
        name,
        value,
        curve: curveOf(known, name)
      }))
    : known.slice(0, MOST_METRICS).map(curve => ({
        name: curve.name,
        value: curve.values[curve.values.length - 1],
        curve
      }));
}

/** Reason of the job's state. */
function Why(props: {
  job: Job;
  engines: readonly EngineInfo[];
  failed: boolean;
  show(): void;
  trans: TranslationBundle;
}): React.JSX.Element | null {
  const { job, failed, trans } = props;
  const text = useTicking(() => whyText(job, props.engines, trans));
  const { failure } = job;
  if (!text) {
    return null;
  }
  return (
    <p className="jp-t9k-JobHeader-why" data-failed={failed || undefined}>
      {isStalled(job) && <PhaseIcon state="stalled" />}
      <span>{text}</span>
      {failed && failure && (
        <span className="jp-t9k-secondary">{formatEnd(failure, trans)}</span>
      )}
      {failed && failure?.link && (
        <LinkButton onClick={props.show}>{trans.__('Show in log')}</LinkButton>
      )}
    </p>
  );
}

/** Progress of the job, with rate and remaining time. */
function ProgressLine(props: {
  progress: Progress;
  state: string;
  running: boolean;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { progress, running, trans } = props;
  const left = useTicking(() => (running ? etaText(progress, trans) : ''));
  const spoken = listed([progress.text, left]);
  return (
    <div className="jp-t9k-JobHeader-progress">
      <div>
        <strong>{progress.text}</strong>
        {progress.rate && (
          <span className="jp-t9k-secondary">{progress.rate}</span>
        )}
        <span className="jp-t9k-JobHeader-eta">{left}</span>
      </div>
      {progress.fraction !== null && (
        <ProgressBar
          fraction={progress.fraction}
          label={trans.__('Progress')}
          state={props.state}
          text={spoken}
          height={4}
        />
      )}
    </div>
  );
}

/**
 * Return the remaining time, such as “4 min left, ends about 10:47”; empty if it is not known, and after that time: the
 * job has become slower or makes no progress.
 */
function etaText(progress: Progress, trans: TranslationBundle): string {
  if (progress.eta_seconds === null) {
    return '';
  }
  const end = progress.updated_at + progress.eta_seconds;
  const left = end - serverNow();
  return left < 0
    ? ''
    : trans.__('%1, ends about %2', formatEta(left, trans), formatClock(end));
}
