/** Root component of the sidebar. */

import { addIcon, searchIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import { ISignal } from '@lumino/signaling';
import * as React from 'react';
import { JobSummary } from '../../api/types';
import { asOfEngine } from '../../jobs/asOf';
import { formatClock, sentences } from '../../common/format';
import { ISpread, locationText, spreadOf } from '../../jobs/jobLocation';
import { matches, sectionsOf } from '../model/sidebar';
import { CommandIDs, IJobsModel } from '../../tokens';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Buttons';
import { MoreButton } from '../../ui/MenuButton';
import { ClusterBanner } from '../../cluster/view/ClusterBanner';
import { RunCommand } from '../../common/commands';
import {
  usePacedSignal,
  useShown,
  useSignal,
  useSteady,
  useWidth
} from '../../common/hooks';
import { ConnectionBanner } from '../../jobs/ConnectionBanner';
import { Icon } from '../../ui/Icon';
import { Capacity } from './Capacity';
import { JobList } from './JobList';
import { FirstUse, Loading, NothingFound } from './states';
import { useWatchedCapacity } from './useWatchedCapacity';
import { TensorBoards } from './TensorBoards';

/** The minimum time between two changes of a row, in ms. */
const INTERVAL = 250;
/** Width in px below which texts are shortened. */
const NARROW = 260;
/** The filter searches all parts of a job's location. */
const EVERYWHERE: ISpread = { engines: true, namespaces: true };

/** State of the sidebar that survives a reload of the page. */
export interface ISidebarState {
  folded: readonly string[];
  showDeleted: boolean;
  /** True if the jobs of other users are hidden. */
  onlyMine: boolean;
}

/** State of the view, which the widget keeps. */
export interface IMonitorModel {
  readonly state: ISidebarState;
  /** Id of the job of the current tab; null if the current tab shows no job. */
  readonly current: string | null;
  readonly changed: ISignal<IMonitorModel, void>;
  fold(section: string): void;
  showDeleted(shown: boolean): void;
  showOnlyMine(only: boolean): void;
}

interface IMonitorProps {
  jobs: IJobsModel;
  model: IMonitorModel;
  run: RunCommand;
  openMenu: (id: string, x: number, y: number) => void;
  trans: TranslationBundle;
}

/** The sidebar, from top to bottom: toolbar, banners, capacity, filter, jobs and TensorBoards. */
export function Monitor(props: IMonitorProps): React.JSX.Element {
  const { jobs, model, run, trans } = props;
  const root = React.useRef<HTMLDivElement>(null);
  const shown = useShown(root);
  usePacedSignal(shown ? jobs.changed : null, INTERVAL);
  useSignal(model.changed);
  const ready = useReady(jobs);
  const [filter, setFilter] = React.useState('');
  const width = useWidth(root);
  const narrow = width > 0 && width < NARROW;

  const { connection, asOf, engines } = jobs;
  const note =
    connection.state === 'lost' && asOf !== null
      ? trans.__('as of %1', formatClock(asOf))
      : null;
  useWatchedCapacity(jobs, shown && engines.some(({ cluster }) => cluster));
  const { showDeleted, onlyMine } = model.state;
  React.useEffect(() => {
    const watch = showDeleted ? jobs.deleted.watch() : null;
    return () => watch?.dispose();
  }, [jobs, showDeleted]);
  const all = useSteady(jobs.jobs, INTERVAL).filter(job => !job.deleted);
  const allDeleted = showDeleted ? jobs.deleted.jobs : null;
  const others = [...all, ...(allDeleted ?? [])].filter(({ mine }) => !mine);
  const isMeant = (job: JobSummary): boolean => job.mine || !onlyMine;
  const visible = all.filter(isMeant);
  const deleted = allDeleted && allDeleted.filter(isMeant);
  const spread = spreadOf([...visible, ...(deleted ?? [])]);
  const locationOf = (job: JobSummary): string =>
    locationText(job, spread, engines);
  const isFound = (job: JobSummary): boolean =>
    filter.trim() === '' ||
    matches(job, filter, trans, locationText(job, EVERYWHERE, engines));
  const sections = sectionsOf(
    visible.filter(isFound),
    deleted && deleted.filter(isFound)
  );
  const none = all.length === 0 && !allDeleted?.length;
  const found = Object.values(sections).some(section => section?.length);
  const folded = new Set(model.state.folded);
  const refusal = whyNoJob(jobs, ready, trans);

  return (
    <div
      className="jp-t9k-Monitor"
      ref={root}
      data-narrow={narrow || undefined}
    >
      <div className="jp-t9k-Monitor-toolbar">
        <Button
          kind="primary"
          icon={addIcon}
          disabled={refusal !== null}
          title={refusal ?? undefined}
          onClick={() => run(CommandIDs.chooseScript)}
        >
          {trans.__('New job')}
        </Button>
        <MoreButton
          label={trans._p('menu', 'More')}
          disabled={!ready} // its entries depend on the engines
          items={() => [
            {
              label: trans.__('Show All Jobs in a Table'),
              execute: () => run(CommandIDs.openAllJobs)
            },
            {
              label: trans.__('Show Deleted Jobs'),
              toggled: showDeleted,
              execute: () => model.showDeleted(!showDeleted)
            },
            ...(engines.some(({ cluster, looking }) => cluster || looking)
              ? [
                  {
                    label: trans.__('Show Cluster Nodes'),
                    execute: () => run(CommandIDs.showNodes)
                  }
                ]
              : []),
            {
              label: trans.__('Refresh Engines and Permissions'),
              execute: () => run(CommandIDs.refresh)
            }
          ]}
        />
      </div>
      <ConnectionBanner
        connection={connection}
        reconnect={() => jobs.reconnect()}
        trans={trans}
      />
      {ready && connection.state === 'open' && (
        <ClusterBanner
          engines={engines}
          refresh={() => run(CommandIDs.refresh)}
          trans={trans}
        />
      )}
      {ready && (
        <Capacity
          engines={engines}
          jobs={all}
          capacity={jobs.capacity}
          narrow={narrow}
          note={note}
          showNodes={() => run(CommandIDs.showNodes)}
          trans={trans}
        />
      )}
      {ready && !none && refusal !== null && connection.state === 'open' && (
        <Banner level="error" title={refusal}>
          {sentences(new Set(engines.map(({ reason }) => reason)))}
        </Banner>
      )}
      {showDeleted && jobs.deleted.error !== null && (
        <Banner
          level="warning"
          title={trans.__('The deleted jobs could not be read.')}
        >
          {jobs.deleted.error}
        </Banner>
      )}
      {ready && !none && (
        <Filter
          value={filter}
          onChange={setFilter}
          narrow={narrow}
          trans={trans}
          onlyMine={others.length > 0 ? onlyMine : null}
          setOnlyMine={only => model.showOnlyMine(only)}
        />
      )}
      <div className="jp-t9k-Monitor-main">
        {!ready ? (
          connection.state !== 'missing' && <Loading trans={trans} />
        ) : none ? (
          <FirstUse
            engines={engines}
            chooseScript={() => run(CommandIDs.chooseScript)}
            trans={trans}
          />
        ) : !found ? (
          <NothingFound
            filter={filter}
            clear={() => setFilter('')}
            others={onlyMine ? others.filter(isFound).length : 0}
            showOthers={() => model.showOnlyMine(false)}
            trans={trans}
          />
        ) : (
          <JobList
            sections={sections}
            folded={folded}
            onFold={section => model.fold(section)}
            current={model.current}
            note={note}
            locationOf={locationOf}
            asOf={job => asOfEngine(jobs, job.engine)}
            run={run}
            openMenu={props.openMenu}
            trans={trans}
          />
        )}
      </div>
      {ready && (
        <TensorBoards
          tensorboards={jobs.tensorboards}
          folded={folded.has('tensorboards')}
          onFold={() => model.fold('tensorboards')}
          run={run}
          trans={trans}
        />
      )}
    </div>
  );
}

/** Field that filters the jobs, and a switch that hides the jobs of other users. */
function Filter({
  value,
  onChange,
  narrow,
  onlyMine,
  setOnlyMine,
  trans
}: {
  value: string;
  onChange: (value: string) => void;
  narrow: boolean;
  /** True if other users' jobs are hidden; null if there are none. */
  onlyMine: boolean | null;
  setOnlyMine: (only: boolean) => void;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <div className="jp-t9k-Filter">
      <label className="jp-t9k-Filter-field">
        <Icon of={searchIcon} size={16} />
        <span className="jp-t9k-visuallyHidden">
          {trans.__('Filter the jobs by name, phase or reason')}
        </span>
        <input
          type="search"
          value={value}
          placeholder={
            narrow
              ? trans.__('Filter')
              : trans.__('Filter: name, phase, reason')
          }
          spellCheck={false}
          onChange={event => onChange(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Escape' && value) {
              event.stopPropagation();
              onChange('');
            }
          }}
        />
      </label>
      {onlyMine !== null && (
        <label className="jp-t9k-Filter-mine">
          <input
            type="checkbox"
            checked={onlyMine}
            onChange={event => setOnlyMine(event.target.checked)}
          />
          {trans.__('Mine')}
          <span className="jp-t9k-visuallyHidden">
            {trans.__('(only your jobs)')}
          </span>
        </label>
      )}
    </div>
  );
}

/** Return the reason why no job can be created; null if jobs can be created. */
function whyNoJob(
  jobs: IJobsModel,
  ready: boolean,
  trans: TranslationBundle
): string | null {
  if (jobs.connection.state === 'missing') {
    return trans.__('The server part of Distributed Jobs is not running.');
  }
  return ready && !jobs.engines.some(engine => engine.available)
    ? trans.__('Jobs can’t run here.')
    : null;
}

/** Return true once the first snapshot has arrived. */
function useReady(jobs: IJobsModel): boolean {
  const [ready, setReady] = React.useState(false);
  React.useEffect(() => {
    let mounted = true;
    void jobs.ready.then(() => mounted && setReady(true));
    return () => {
      mounted = false;
    };
  }, [jobs]);
  return ready;
}
