/** Overview of a job: specification, failure, timeline and files. */
import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { copyIcon } from '@jupyterlab/ui-components';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import * as React from 'react';
import {
  Checkpoints,
  EngineFacts,
  Event,
  Failure,
  Job,
  JobCurves,
  LogStream,
  Replica
} from '../../api/types';
import { joinWords } from '../../common/shellWords';
import { CommandIDs } from '../../tokens';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Time } from '../../ui/Time';
import { ComparedWith } from '../changes/ComparedWith';
import { ContinuesJob } from '../changes/Continuation';
import { CurvesSection } from '../curves/Curves';
import { Attempts } from '../replicas/Attempts';
import { CodeSection, ICodeReader } from './CodeSection';
import { FailurePanel } from './FailurePanel';
import { KeptFiles } from './KeptFiles';
import {
  lifecycleRows,
  placementRows,
  Rows,
  sizeRows,
  volumeRows
} from '../replicas/rows';
import { Timeline } from './Timeline';
import { OpenFile, Traceback } from './Traceback';
import { listed } from '../../common/format';

/** Properties of the overview. */
interface IOverviewProps {
  job: Job;
  /** Facts of the job's engine. */
  facts: EngineFacts;
  replicas: readonly Replica[];
  events: readonly Event[];
  /** Log streams of the job; null until they are known. */
  streams: readonly LogStream[] | null;
  readCheckpoints(): Promise<Checkpoints>;
  curves: JobCurves | null;
  readJob(id: string): Promise<Job>;
  code: ICodeReader;
  /** True if the timeline shows a table of the events instead of sentences. */
  rawEvents: boolean;
  setRawEvents(raw: boolean): void;
  trans: TranslationBundle;
  run(command: string, args?: ReadonlyPartialJSONObject): void;
  has(command: string): boolean;
  openFile: OpenFile;
  openFolder(path: string): void;
  showRuns(job: Job): void;
  openJob(id: string): void;
  kernelTitle(name: string | null): string;
  /** Show the failure in the log. */
  showInLog(): void;
  /** Show the log of one attempt. */
  showAttempt(attempt: number): void;
  downloadLogs(): void;
  exportJob(): void;
}

/** Overview of a job. A failed job begins with the failure. */
export function Overview(props: IOverviewProps): React.JSX.Element {
  const { job, facts, replicas, trans, openFile } = props;
  const failed = job.state === 'Failed';
  const timeline = (
    <Timeline
      events={props.events}
      raw={props.rawEvents}
      setRaw={props.setRawEvents}
      trans={trans}
    />
  );
  return (
    <div className="jp-t9k-Overview">
      {failed && (
        <FailurePanel
          job={job}
          trans={trans}
          run={props.run}
          has={props.has}
          showInLog={props.showInLog}
          openFile={openFile}
          openJob={props.openJob}
        />
      )}
      <div
        className="jp-t9k-Overview-columns"
        data-failed={failed || undefined}
      >
        <div className="jp-t9k-Overview-spec">
          {failed && job.failure && (
            <Traceback
              failure={job.failure}
              trans={trans}
              openFile={openFile}
            />
          )}
          {failed && <LastOutput {...props} />}
          <WhatItRuns {...props} />
          {job.spec.source && (
            <CodeSection {...props} source={job.spec.source} />
          )}
          <Section
            title={trans._p('job', 'Size')}
            rows={sizeRows(job, replicas, facts.has_pods, trans)}
          />
          <OptionalSection
            title={trans.__('Volumes')}
            rows={volumeRows(job, trans)}
          />
          <OptionalSection
            title={trans.__('Placement')}
            rows={placementRows(job, trans)}
          />
          <Section
            title={trans.__('Lifecycle')}
            rows={lifecycleRows(job, facts.has_pods, trans)}
          />
          <ComparedWith
            job={job}
            readJob={props.readJob}
            compare={ids =>
              props.run(CommandIDs.openAllJobs, { page: 'compare', ids })
            }
            trans={trans}
          />
        </div>
        <div className="jp-t9k-Overview-story">
          {timeline}
          <CurvesSection curves={props.curves} trans={trans} />
          <Attempts
            replicas={replicas}
            trans={trans}
            showLog={props.showAttempt}
          />
          <KeptFiles {...props} />
        </div>
      </div>
    </div>
  );
}

function Section({
  title,
  rows
}: {
  title: string;
  rows: Rows;
}): React.JSX.Element {
  return (
    <section className="jp-t9k-Section">
      <h3>{title}</h3>
      <Facts rows={rows} />
    </section>
  );
}

/** Section that is hidden if it has no rows. */
function OptionalSection(props: {
  title: string;
  rows: Rows;
}): React.JSX.Element | null {
  return props.rows.length > 0 ? <Section {...props} /> : null;
}

/** List of labels and values. */
function Facts({ rows }: { rows: Rows }): React.JSX.Element {
  return (
    <dl className="jp-t9k-Facts">
      {rows.map(([label, value]) => (
        <React.Fragment key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </React.Fragment>
      ))}
    </dl>
  );
}

/** Section with the command, its working directory, runtime and submission. */
function WhatItRuns(props: IOverviewProps): React.JSX.Element {
  const { job, trans, openFile } = props;
  const { spec, entrypoint_path } = job;
  const { kind, value } = spec.entrypoint;
  const name = value.split('/').pop() ?? value;
  const rows: Rows = [
    [
      trans.__('Working directory'),
      job.working_dir_path === null ? (
        <code key="directory">{job.working_dir ?? trans.__('unknown')}</code>
      ) : (
        <LinkButton
          key="directory"
          title={job.working_dir ?? ''}
          onClick={() => props.run(CommandIDs.openWorkingDirectory)}
        >
          <code>{job.working_dir_path || trans.__('the root folder')}</code>
        </LinkButton>
      )
    ],
    ...runtimeRow(props),
    ...environmentRow(job, trans),
    [trans.__('Submitted'), <Submitted key="submitted" {...props} />],
    ...continuesRow(props)
  ];
  return (
    <section className="jp-t9k-Section">
      <h3>
        {trans.__('What it runs')}
        {entrypoint_path !== null && (
          <LinkButton
            onClick={() => openFile({ path: entrypoint_path, line: 1 })}
          >
            {trans.__('Open %1', name)}
          </LinkButton>
        )}
      </h3>
      <div className="jp-t9k-Command">
        <code title={joinWords(job.command)}>
          {kind === 'module'
            ? `-m ${value}`
            : kind === 'command'
              ? name
              : joinWords([name])}{' '}
          {argumentGroups(spec.args).map((group, index) => (
            <span key={index}>{group} </span>
          ))}
        </code>
        <IconButton
          icon={copyIcon}
          label={trans.__('Copy the whole command')}
          onClick={() => Clipboard.copyToSystem(joinWords(job.command))}
        />
      </div>
      <Facts rows={rows} />
    </section>
  );
}

/** Return a row with the job's kernel or image; no row if the job has neither. */
function runtimeRow({ job, facts, kernelTitle, trans }: IOverviewProps): Rows {
  const { kernel, image } = job.spec.runtime;
  if (facts.runs_in_kernel) {
    return [[trans.__('Kernel'), kernelTitle(kernel)]];
  }
  return image ? [[trans.__('Image'), <code key="image">{image}</code>]] : [];
}

/** Join options with their values, so that a line break does not separate them. */
export function argumentGroups(args: readonly string[]): string[] {
  const groups: string[][] = [];
  for (const arg of args) {
    const last = groups[groups.length - 1];
    const value = last?.[0].startsWith('-') && !/^--?[A-Za-z]/.test(arg);
    if (value && last.length < 3) {
      last.push(arg);
    } else {
      groups.push([arg]);
    }
  }
  return groups.map(group => joinWords(group));
}

/** Return a row with the names of the job's environment variables. */
function environmentRow(job: Job, trans: TranslationBundle): Rows {
  const names = job.spec.env.map(({ name }) => name);
  return names.length
    ? [[trans.__('Environment'), <code key="env">{listed(names)}</code>]]
    : [];
}

/** Return a row with the evicted job that the job continues; no row if it continues none. */
function continuesRow(props: IOverviewProps): Rows {
  const { job, trans } = props;
  return job.continues
    ? [[trans.__('Continues'), <ContinuesJob key="continues" {...props} />]]
    : [];
}

/** Time and owner of the submission, and a link to the job that was run again. */
function Submitted({ job, trans, openJob }: IOverviewProps): React.JSX.Element {
  const { rerun_of } = job;
  return (
    <>
      <Time time={job.created_at} trans={trans} />
      {job.owner && ` · ${trans.__('by %1', job.owner)}`}
      {rerun_of && (
        <>
          {' · '}
          {trans.__('from')}{' '}
          <LinkButton onClick={() => openJob(rerun_of)}>
            {rerun_of.split(':')[2]}
          </LinkButton>
        </>
      )}
    </>
  );
}

/** Return true if the last output is the traceback, which the overview shows already. */
function isTraceback({ frames, error, link, last_output }: Failure): boolean {
  const last = last_output?.lines[last_output.lines.length - 1]?.trim();
  return (
    frames.length > 0 &&
    !!last &&
    error?.startsWith(last.slice(0, 100)) === true &&
    link?.stream === last_output?.stream &&
    (last_output?.offset ?? 0) >= (link?.offset ?? 0)
  );
}

/** Last lines of the log. They may not contain the cause of the failure. */
function LastOutput({
  job,
  trans,
  showInLog
}: IOverviewProps): React.JSX.Element | null {
  const { failure } = job;
  const output = failure?.last_output;
  return output && !isTraceback(failure) ? (
    <section className="jp-t9k-Section">
      <h3>
        {trans.__('Last output')}
        <LinkButton onClick={showInLog}>{trans.__('Open log')}</LinkButton>
      </h3>
      <div
        className="jp-t9k-Traceback jp-t9k-LastOutput"
        role="group"
        aria-label={trans.__('Last output')}
        tabIndex={0}
      >
        {output.lines.map((line, index) => (
          <div key={index}>{line}</div>
        ))}
      </div>
    </section>
  ) : null;
}
