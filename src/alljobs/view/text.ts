/** Texts of the table of jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobState } from '../../api/aliases';
import { EngineInfo, JobSummary } from '../../api/types';
import {
  formatClock,
  formatCount,
  formatDuration,
  formatTime,
  listed
} from '../../common/format';
import { labelOf } from '../../jobs/engines';
import { stateOf } from '../../jobs/phase';
import { stateCounts } from '../../jobs/stateCounts';
import { IJobColumn, ownerOf } from '../model/columns';
import { BuiltIn, GroupKey, Since } from '../model/view';

/** Return the heading of a column. */
export function columnLabel(
  { kind, name }: Pick<IJobColumn, 'kind' | 'name'>,
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'name':
      return trans.__('Name');
    case 'state':
      return trans.__('State');
    case 'progress':
      return trans.__('Progress');
    case 'owner':
      return trans.__('Owner');
    case 'where':
      return trans.__('Where');
    case 'node':
      return trans.__('Node');
    case 'queue':
      return trans.__('Queue');
    case 'gpus':
      return trans.__('GPUs');
    case 'allocated':
      return trans.__('Allocated');
    case 'created':
      return trans.__('Submitted');
    case 'started':
      return trans.__('Started');
    case 'ended':
      return trans.__('Ended');
    case 'waited':
      return trans.__('Waited');
    case 'duration':
      return trans.__('Duration');
    case 'hours':
      return trans.__('GPU-h');
    case 'restarts':
      return trans.__('Restarts');
    case 'metric':
      return name;
  }
}

/** Return an explanation of a column's values for its tooltip. */
export function columnTitle(
  column: Pick<IJobColumn, 'kind' | 'name'>,
  trans: TranslationBundle
): string {
  switch (column.kind) {
    case 'gpus':
      return trans.__('GPUs: requested by the whole job');
    case 'allocated':
      return trans.__('Allocated: GPUs that the job has now');
    case 'waited':
      return trans.__(
        'Waited: from the submission to the first running replica'
      );
    case 'duration':
      return trans.__('Duration: running time without pauses');
    case 'hours':
      return trans.__('GPU-hours: requested GPUs times the running time');
    case 'metric':
      return trans.__('%1: last value in the log', column.name);
    default:
      return columnLabel(column, trans);
  }
}

/** Return the name of a view that every table has. */
export function viewText(view: BuiltIn, trans: TranslationBundle): string {
  switch (view) {
    case 'all':
      return trans.__('All');
    case 'week':
      return trans.__('Last 7 days');
    case 'active':
      return trans.__('Active');
    case 'failed':
      return trans.__('Failed, mine');
    case 'hours':
      return trans.__('Most GPU-hours');
  }
}

/** Return the name of a group. */
export function groupText(group: GroupKey, trans: TranslationBundle): string {
  switch (group) {
    case '':
      return trans.__('Nothing');
    case 'day':
      return trans.__('Day');
    case 'sweep':
      return trans.__('Sweep');
    case 'owner':
      return trans.__('Owner');
  }
}

/** Return the name of a period. */
export function sinceText(since: Since, trans: TranslationBundle): string {
  switch (since) {
    case '':
      return trans.__('Any time');
    case 'today':
      return trans.__('Today');
    case 'week':
      return trans.__('Last 7 days');
    case 'month':
      return trans.__('Last 30 days');
  }
}

/** Return the user to whom a job belongs: “you” for a job of an engine without owners. */
export function ownerText(
  job: Pick<JobSummary, 'owner' | 'mine'>,
  trans: TranslationBundle
): string {
  return job.owner ?? (job.mine ? trans.__('you') : '');
}

/** Return the engine and the namespace of a job: “T9k · demo”. */
export function locationText(
  job: JobSummary,
  engines: readonly EngineInfo[],
  hasNamespaces: boolean
): string {
  const label = labelOf(engines, job.engine);
  return hasNamespaces && job.namespace ? `${label} · ${job.namespace}` : label;
}

/** Return a time: “10:05”, or “Nov 20 18:02”. */
export function timeText(
  time: number | null,
  trans: TranslationBundle
): string {
  if (time === null) {
    return '';
  }
  const [day, clock] = [formatTime(time, trans), formatClock(time)];
  return day === clock ? clock : `${day} ${clock}`;
}

/** Return a duration as other pages do: “43 s”, “2 h 22 min”; blank without a duration. */
export function durationText(
  seconds: number | null,
  trans: TranslationBundle
): string {
  return seconds === null ? '' : formatDuration(seconds, trans);
}

/** Return GPU-hours: “8.5”, “134”; blank without a value. */
export function gpuHoursText(hours: number | null): string {
  if (hours === null) {
    return '';
  }
  return hours < 99.95 ? hours.toFixed(1) : formatCount(hours);
}

/** Return the states of jobs with their counts: “1 failed, 4 running”. */
export function countsText(
  jobs: readonly JobSummary[],
  trans: TranslationBundle
): string {
  return listed(stateCounts(jobs, trans));
}

/** Return the state whose icon stands for several jobs: the first one that is not finished, else a failure. */
export function commonState(jobs: readonly JobSummary[]): JobState {
  const found = new Set<JobState>(jobs.map(stateOf));
  const order: readonly JobState[] = [
    'running',
    'resuming',
    'submitting',
    'pending',
    'paused',
    'unknown',
    'failed',
    'succeeded',
    'stopped'
  ];
  return order.find(state => found.has(state)) ?? 'unknown';
}

/** Return the names of owners with their GPU-hours: “lin 412, wei 574”, the greatest first. */
export function ownersText(
  hours: ReadonlyMap<string, number>,
  trans: TranslationBundle
): string {
  return listed(
    [...hours]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 5)
      .map(([owner, sum]) => `${owner || trans.__('you')} ${gpuHoursText(sum)}`)
  );
}

/** Return a number of jobs: “46 jobs”. */
export function jobsText(count: number, trans: TranslationBundle): string {
  return trans._n('%2 job', '%2 jobs', count, formatCount(count));
}

/** Return the key of a job's owner in filters. */
export function ownerKey(job: JobSummary): string {
  return ownerOf(job) ?? '';
}
