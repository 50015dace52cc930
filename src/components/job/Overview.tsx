import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Event, Job, LogStream, Replica } from '../../api/types';
import { formatBytes } from '../../model/format';
import { joinWords } from '../../model/shellWords';
import { CommandIDs } from '../../tokens';
import { IconButton, LinkButton } from '../Buttons';
import { Time } from '../Time';
import { Attempts } from './Attempts';
import { FailurePanel } from './FailurePanel';
import {
  lifecycleRows,
  placementRows,
  Rows,
  sizeRows,
  volumeRows
} from './rows';
import { Timeline } from './Timeline';
import { OpenFile, Traceback } from './Traceback';

interface IOverviewProps {
  job: Job;
  replicas: readonly Replica[];
  events: readonly Event[];
  /** Null until they are known. */
  streams: readonly LogStream[] | null;
  rawEvents: boolean;
  setRawEvents(raw: boolean): void;
  trans: TranslationBundle;
  run(command: string): void;
  openFile: OpenFile;
  openFolder(path: string): void;
  openJob(id: string): void;
  kernelTitle(name: string | null): string;
  showInLog(): void;
  showAttempt(attempt: number): void;
  downloadLogs(): void;
}

/** What the job is, as a person would say it, and what happened to it. */
export function Overview(props: IOverviewProps): React.JSX.Element {
  const { job, replicas, trans, openFile } = props;
  const failed = job.phase === 'Failed' && job.ended_by !== 'user';
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
          showInLog={props.showInLog}
          openFile={openFile}
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
          <WhatItRuns {...props} />
          <Section
            title={trans.__('Size')}
            rows={sizeRows(job, replicas, trans)}
          />
          {job.engine !== 'local' && <InCluster job={job} trans={trans} />}
          <Section
            title={trans.__('Lifecycle')}
            rows={lifecycleRows(job, trans)}
          />
        </div>
        <div className="jp-t9k-Overview-story">
          {timeline}
          <Attempts
            replicas={replicas}
            trans={trans}
            showLog={props.showAttempt}
          />
          <Files {...props} />
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

/** What only a job in a cluster has. */
function InCluster({
  job,
  trans
}: Pick<IOverviewProps, 'job' | 'trans'>): React.JSX.Element {
  const volumes = volumeRows(job, trans);
  const placement = placementRows(job, trans);
  return (
    <>
      {volumes.length > 0 && (
        <Section title={trans.__('Volumes')} rows={volumes} />
      )}
      {placement.length > 0 && (
        <Section title={trans.__('Placement')} rows={placement} />
      )}
    </>
  );
}

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
    job.engine === 'local'
      ? [trans.__('Kernel'), props.kernelTitle(spec.runtime.kernel)]
      : [trans.__('Image'), <code key="image">{spec.runtime.image}</code>],
    ...environmentRow(job, trans),
    [trans.__('Submitted'), <Submitted key="submitted" {...props} />]
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
          {kind === 'module' ? `-m ${value}` : name}{' '}
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

/** An option and its values, which are not torn apart by a line's end. */
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

function environmentRow(job: Job, trans: TranslationBundle): Rows {
  const names = job.spec.env.map(({ name }) => name);
  return names.length
    ? [[trans.__('Environment'), <code key="env">{names.join(', ')}</code>]]
    : [];
}

function Submitted({ job, trans, openJob }: IOverviewProps): React.JSX.Element {
  const { rerun_of } = job;
  return (
    <>
      <Time time={job.created_at} trans={trans} />
      {job.owner && ` · ${trans.__('by %1', job.owner)}`}
      {rerun_of && (
        <>
          {' · '}
          {trans.__('again, from')}{' '}
          <LinkButton onClick={() => openJob(rerun_of)}>
            {rerun_of.split(':')[2]}
          </LinkButton>
        </>
      )}
    </>
  );
}

function Files(props: IOverviewProps): React.JSX.Element {
  const { job, streams, trans } = props;
  const size = streams?.reduce((sum, stream) => sum + stream.size, 0);
  return (
    <section className="jp-t9k-Section">
      <h3>{trans.__('Files')}</h3>
      <dl className="jp-t9k-Facts">
        {job.log_dirs.map((directory, index) => {
          const path = job.log_dir_paths[index] ?? null;
          return (
            <React.Fragment key={directory}>
              <dt>{trans.__('TensorBoard')}</dt>
              <dd>
                {path === null ? (
                  <code>{directory}</code>
                ) : (
                  <LinkButton
                    title={directory}
                    onClick={() => props.openFolder(path)}
                  >
                    <code>{path}</code>
                  </LinkButton>
                )}
              </dd>
            </React.Fragment>
          );
        })}
        <dt>{trans.__('Logs')}</dt>
        <dd>
          {size ? (
            <>
              <LinkButton onClick={props.downloadLogs}>
                {trans.__('Download')}
              </LinkButton>
              {` · ${formatBytes(size)}`}
            </>
          ) : (
            trans.__('nothing written so far')
          )}
        </dd>
      </dl>
    </section>
  );
}
