/** Content of a job's tab: header, actions, and the panes for overview, replicas, logs and manifest. */
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import * as React from 'react';
import {
  EngineFacts,
  Job,
  JobCurves,
  JobDetail,
  Replica,
  StackGroup,
  TerminalList
} from '../../api/types';
import { asOfEngine } from '../../jobs/asOf';
import { factsOf } from '../../jobs/engines';
import type { JobPane } from '../model/jobPanes';
import { JobTabModel } from '../model/jobTab';
import { SHOW_ALL, sourceKey } from '../../logs/loading/streams';
import { CommandIDs } from '../../tokens';
import { ClusterBanner } from '../../cluster/view/ClusterBanner';
import { ConnectionBanner } from '../../jobs/ConnectionBanner';
import { InView, useAfter, useSignal } from '../../common/hooks';
import { ILogViewHandle } from '../../logs/view/LogView';
import { AsOf } from '../../ui/Time';
import { InnerTabs, tabId } from '../../ui/InnerTabs';
import { useCurves } from '../curves/useCurves';
import { JobActions } from './JobActions';
import { JobHeader } from './JobHeader';
import { Gone, Notices } from './Notices';
import { ILogsPaneLab, LogsPane } from './LogsPane';
import { ManifestPane } from './ManifestPane';
import { Overview } from './Overview';
import { PhaseNews } from './PhaseNews';
import { Replicas } from '../replicas/Replicas';
import { useTerminals } from '../replicas/useTerminals';
import { useStreams } from './useStreams';

/** The pane of resources, which is loaded when it is shown for the first time. */
const ResourcesPane = React.lazy(() => import('../resources/ResourcesPane'));
/** The pane of stacks, which is loaded when it is shown for the first time. */
const StacksPane = React.lazy(() => import('../stacks/StacksPane'));

/** Functions of the lab that a job's tab uses. */
export interface IJobViewLab extends ILogsPaneLab {
  editors: IEditorServices;
  /** Run a command for the tab's job. */
  run(command: string, args?: ReadonlyPartialJSONObject): void;
  /** Return true if the lab has a command. */
  has(command: string): boolean;
  /** Show a folder in the file browser. */
  openFolder(path: string): void;
  /** Show the runs of a job in the table of runs. */
  showRuns(job: Job): void;
  /** Show the tab of another job. */
  openJob(id: string): void;
  /** Open the menu of further actions at an element. */
  openMenu(anchor: HTMLElement, job: Job, terminals: TerminalList | null): void;
  /** Return a kernel's display name; null stands for the default kernel. */
  kernelTitle(name: string | null): string;
  /** Close the tab. */
  close(): void;
}

/** Properties of the content of a job's tab. */
interface IJobViewProps {
  model: JobTabModel;
  lab: IJobViewLab;
  trans: TranslationBundle;
  /** Receives the log's actions while the log is mounted. */
  logHandle: React.Ref<ILogViewHandle>;
}

/** Content of a job's tab. */
export function JobView(props: IJobViewProps): React.JSX.Element {
  const { model, lab, trans } = props;
  const { jobs, watch } = model;
  useSignal(model.changed);
  const { isHidden } = model;
  useSignal(isHidden ? null : jobs.changed, 250);
  useSignal(isHidden ? null : watch.changed, 250);
  const slow = useAfter(watch.detail === undefined, 300);
  const detail = withPending(model);
  return (
    <InView.Provider value={!isHidden}>
      <div className="jp-t9k-JobView">
        <ConnectionBanner
          connection={jobs.connection}
          reconnect={() => jobs.reconnect()}
          trans={trans}
        />
        {detail?.job && <JobPage {...props} detail={detail} job={detail.job} />}
        {detail === null && <Gone close={lab.close} trans={trans} />}
        {detail === undefined &&
          slow &&
          jobs.connection.state !== 'missing' && (
            <p className="jp-t9k-LogEmpty" role="status">
              {trans.__('Reading the job…')}
            </p>
          )}
      </div>
    </InView.Provider>
  );
}

/** Return the job's details. An action that the user has just requested is already pending in the list of jobs. */
function withPending(model: JobTabModel): JobDetail | null | undefined {
  const { detail } = model.watch;
  const summary = model.jobs.get(model.id);
  return detail?.job && summary
    ? {
        ...detail,
        job: {
          ...detail.job,
          pending_action: summary.pending_action ?? detail.job.pending_action
        }
      }
    : detail;
}

/** Properties of the panes of a job. */
interface IJobPageProps extends IJobViewProps {
  detail: JobDetail;
  job: Job;
}

/** Return the tabs of all panes. */
function paneTabs(
  job: Job,
  trans: TranslationBundle
): { key: JobPane; label: string; count?: number }[] {
  return [
    { key: 'overview', label: trans.__('Overview') },
    { key: 'replicas', label: trans.__('Replicas'), count: job.replicas },
    { key: 'logs', label: trans.__('Logs') },
    { key: 'resources', label: trans.__('Resources') },
    { key: 'stacks', label: trans.__('Stacks') },
    { key: 'yaml', label: trans.__('YAML') }
  ];
}

/** Header, inner tabs and current pane of a job. */
function JobPage(props: IJobPageProps): React.JSX.Element {
  const { model, lab, detail, job, trans } = props;
  const facts = factsOf(model.jobs.engines, job.engine);
  const hasManifest = facts.manifest_kind !== null || job.imported_manifest;
  const engines = model.jobs.engines.filter(({ name }) => name === job.engine);
  const lacks = new Set<JobPane>(engines.flatMap(engine => engine.lacks));
  if (!hasManifest) {
    lacks.add('yaml');
  }
  // The stored pane may not exist for this job.
  const stored = model.state.pane;
  const pane = lacks.has(stored) ? 'overview' : stored;
  const terminals = useTerminals(model.jobs.api, job, pane === 'replicas');
  const asOf = asOfEngine(model.jobs, job.engine);
  const isLost = model.jobs.connection.state === 'lost';
  const panel = `jp-t9k-job-${job.uid}`;
  const curves = useCurves(model, job);
  const showFailure = (): void => {
    const link = job.failure?.link;
    if (link?.stream != null) {
      const { stream, offset } = link;
      void model.show('logs', { stream, offset: offset ?? 0 });
    }
  };
  return (
    <AsOf.Provider value={asOf}>
      <PhaseNews job={job} trans={trans} />
      <JobHeader
        job={job}
        engines={model.jobs.engines}
        curves={curves}
        asOf={asOf}
        failureBelow={pane === 'overview'}
        showFailure={showFailure}
        trans={trans}
      >
        <JobActions
          job={job}
          trans={trans}
          run={lab.run}
          has={lab.has}
          openMenu={anchor => lab.openMenu(anchor, job, terminals)}
        />
      </JobHeader>
      <InnerTabs
        label={trans.__('Parts of the job')}
        panel={panel}
        current={pane}
        select={key => model.set({ pane: key })}
        tabs={paneTabs(job, trans).filter(({ key }) => !lacks.has(key))}
      />
      {!isLost && (
        <ClusterBanner
          engines={engines}
          refresh={() => lab.run(CommandIDs.refresh)}
          trans={trans}
        />
      )}
      <Notices job={job} run={lab.run} trans={trans} />
      <div
        id={panel}
        className="jp-t9k-JobView-panel"
        data-pane={pane}
        role="tabpanel"
        aria-labelledby={tabId(panel, pane)}
      >
        {pane === 'overview' && (
          <OverviewPane
            {...props}
            curves={curves}
            facts={facts}
            showFailure={showFailure}
          />
        )}
        {pane === 'replicas' && (
          <Replicas
            replicas={detail.replicas}
            hasPods={facts.has_pods}
            trans={trans}
            showLog={replica => void showReplica(model, replica)}
            terminals={terminals}
            searchTerminals={replica =>
              model.jobs.api.terminals(job.id, replica)
            }
            openTerminal={place =>
              lab.run(CommandIDs.openTerminal, { ...place })
            }
          />
        )}
        {pane === 'resources' && (
          <React.Suspense fallback={null}>
            <ResourcesPane
              model={model}
              job={job}
              replicas={detail.replicas}
              trans={trans}
            />
          </React.Suspense>
        )}
        {pane === 'stacks' && (
          <React.Suspense fallback={null}>
            <StacksPane
              model={model}
              job={job}
              openFile={lab.openFile}
              showLog={group => void showRanks(model, group)}
              stop={() => lab.run(CommandIDs.stop)}
              trans={trans}
            />
          </React.Suspense>
        )}
        {pane === 'yaml' && (
          <ManifestPane
            model={model}
            job={job}
            editors={lab.editors}
            trans={trans}
          />
        )}
        {model.log && (
          <div className="jp-t9k-JobView-logs" hidden={pane !== 'logs'}>
            <LogsPane {...props} replicas={detail.replicas} />
          </div>
        )}
      </div>
    </AsOf.Provider>
  );
}

/** The overview, with the data that only it needs. */
function OverviewPane(
  props: IJobPageProps & {
    curves: JobCurves | null;
    facts: EngineFacts;
    showFailure(): void;
  }
): React.JSX.Element {
  const { model, lab, detail, job, trans } = props;
  const streams = useStreams(model, job);
  const { api } = model.jobs;
  const readCheckpoints = React.useCallback(
    () => api.checkpoints(job.id),
    [api, job.id]
  );
  const readJob = React.useCallback((id: string) => api.job(id), [api]);
  const code = React.useMemo(
    () => ({
      read: () => api.code(job.id),
      file: (path: string) => api.codeFile(job.id, path),
      restore: (folder: string) => api.restoreCode(job.id, folder)
    }),
    [api, job.id]
  );
  return (
    <Overview
      job={job}
      facts={props.facts}
      replicas={detail.replicas}
      events={detail.events}
      streams={streams}
      readCheckpoints={readCheckpoints}
      curves={props.curves}
      readJob={readJob}
      code={code}
      rawEvents={model.state.rawEvents}
      setRawEvents={rawEvents => model.set({ rawEvents })}
      trans={trans}
      run={lab.run}
      has={lab.has}
      openFile={lab.openFile}
      openFolder={lab.openFolder}
      showRuns={lab.showRuns}
      kernelTitle={lab.kernelTitle}
      openJob={lab.openJob}
      showInLog={props.showFailure}
      showAttempt={attempt => {
        void model.show('logs').then(() => {
          model.log?.log.setFilter({ ...SHOW_ALL, attempt });
        });
      }}
      downloadLogs={() => lab.download(model.jobs.api.logDownloadUrl(job.id))}
      exportJob={() => lab.download(model.jobs.api.jobArchiveUrl(job.id))}
    />
  );
}

/** Show the log of one replica; other replicas are filtered out. */
async function showReplica(
  model: JobTabModel,
  replica: Replica
): Promise<void> {
  await model.show('logs');
  const log = model.log?.log;
  await log?.ready;
  const others = (log?.streams ?? []).filter(
    stream => stream.replica !== replica.name && stream.source !== 'launcher'
  );
  log?.setFilter({ ...SHOW_ALL, hidden: [...new Set(others.map(sourceKey))] });
}

/** Show the log of the ranks of a group of stacks; other ranks are filtered out. */
async function showRanks(
  model: JobTabModel,
  { members }: StackGroup
): Promise<void> {
  await model.show('logs');
  const log = model.log?.log;
  await log?.ready;
  const ranks = new Set(members.map(({ rank }) => rank));
  const others = (log?.streams ?? []).filter(
    stream => stream.source === 'rank' && !ranks.has(stream.rank)
  );
  log?.setFilter({ ...SHOW_ALL, hidden: [...new Set(others.map(sourceKey))] });
}
