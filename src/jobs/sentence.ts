import { TranslationBundle } from '@jupyterlab/translation';
import { PendingAction } from '../api/aliases';
import { JobSummary } from '../api/types';
import { serverNow } from '../common/clock';
import { formatDuration, formatEta } from '../common/format';
import { isActive, pendingText, stateOf, stateWord } from './phase';
import { ranSeconds } from './runtime';

const METRICS_SHOWN = 1;

/** A job as people know it: all runs of one file may have the same display name, so its own as well. */
export function jobTitle(
  job: Pick<JobSummary, 'name' | 'display_name'>
): string {
  return job.display_name === null || job.display_name === job.name
    ? job.name
    : `${job.display_name} (${job.name})`;
}

/**
 * The most useful sentence about a job in its state, for lists.
 *
 * @param short - Where it may be cut: metrics by the last word of their names, before their values.
 * @param now - When its state is known to be so, in seconds.
 */
export function jobSentence(
  job: JobSummary,
  trans: TranslationBundle,
  short = false,
  now = serverNow()
): string {
  if (job.pending_action) {
    return pendingSentence(job, job.pending_action, trans);
  }
  const state = stateOf(job);
  switch (state) {
    case 'running':
      return runningSentence(job, trans, now);
    case 'resuming':
      return (
        waitingSentence(job) ??
        trans._n(
          '%2 of %1 replica is back',
          '%2 of %1 replicas are back',
          job.replicas,
          job.replicas_running
        )
      );
    case 'succeeded':
      return [ranSentence(job, trans), ...metricTexts(job, short)].join(' · ');
    case 'stopped':
      return job.reason?.sentence ?? stoppedSentence(job, trans);
    default:
      return job.reason?.sentence ?? capital(stateWord(state, trans));
  }
}

/** What is on its way, and what it waits for. */
function pendingSentence(
  job: JobSummary,
  action: PendingAction,
  trans: TranslationBundle
): string {
  if (job.replicas_running > 0) {
    switch (action) {
      case 'stopping':
        return trans.__('Stopping: its processes are ending');
      case 'pausing':
        return trans.__('Pausing: its processes are ending');
      case 'deleting':
        return trans.__('Deleting: its processes are ending');
    }
  }
  return pendingText(action, trans);
}

/** What has become of a job, for a notification. */
export function endSentence(job: JobSummary, trans: TranslationBundle): string {
  const name = jobTitle(job);
  if (job.phase !== 'Succeeded') {
    const why = job.reason?.sentence;
    // Most reasons say themselves that it failed: “Rank 1 failed: …”.
    return why ? trans.__('%1: %2', name, why) : trans.__('%1 failed', name);
  }
  if (job.started_at === null) {
    return trans.__('%1 succeeded', name);
  }
  const time = formatDuration(ranSeconds(job), trans);
  return [
    trans.__('%1 succeeded after %2', name, time),
    ...metricTexts(job)
  ].join(': ');
}

/** What a screen reader says of a job in a list. */
export function jobLabel(
  job: JobSummary,
  trans: TranslationBundle,
  now = serverNow()
): string {
  const parts = [
    jobTitle(job),
    stateWord(stateOf(job), trans),
    jobSentence(job, trans, false, now).replace(/ · /g, ', ')
  ];
  if (job.deleted) {
    parts.push(trans.__('deleted'));
  }
  if (job.devices?.count) {
    parts.push(
      heldText(job, trans) ?? trans._n('%1 GPU', '%1 GPUs', job.devices.count)
    );
  }
  return parts.join(', ');
}

/** “holds 8 of 16 GPUs”: of a job that has not all that it asks for; else null. */
export function heldText(
  job: JobSummary,
  trans: TranslationBundle
): string | null {
  const { devices, devices_held } = job;
  return devices && isActive(job) && (devices_held ?? Infinity) < devices.count
    ? trans._n(
        'holds %2 of %1 GPU',
        'holds %2 of %1 GPUs',
        devices.count,
        devices_held
      )
    : null;
}

/** How far a running job is, and how long it will take; null if it does not say. */
function progressText(
  job: Pick<JobSummary, 'progress'>,
  trans: TranslationBundle,
  now: number
): string | null {
  const { progress } = job;
  if (!progress) {
    return null;
  }
  // A list is narrow: the epoch without the batch, so that the time left fits.
  const [text] = progress.text.split(', ');
  if (progress.eta_seconds === null) {
    return text;
  }
  const left = progress.eta_seconds - (now - progress.updated_at);
  return `${text} · ${formatEta(Math.max(0, left), trans)}`;
}

function runningSentence(
  job: JobSummary,
  trans: TranslationBundle,
  now: number
): string {
  const progress = progressText(job, trans, now);
  if (progress !== null) {
    return progress;
  }
  if (job.replicas_running < job.replicas) {
    return trans._n(
      '%2 of %1 replica is running',
      '%2 of %1 replicas are running',
      job.replicas,
      job.replicas_running
    );
  }
  if (job.replicas > 1) {
    return trans._n(
      '%1 replica is running',
      'All %1 replicas are running',
      job.replicas
    );
  }
  return job.processes
    ? trans._n(
        '%1 process is running',
        '%1 processes are running',
        job.processes
      )
    : trans.__('Running');
}

function ranSentence(job: JobSummary, trans: TranslationBundle): string {
  return job.started_at === null
    ? trans.__('Succeeded')
    : trans.__('Ran %1', formatDuration(ranSeconds(job), trans));
}

function stoppedSentence(job: JobSummary, trans: TranslationBundle): string {
  return job.started_at === null
    ? trans.__('Stopped by you before it started')
    : trans.__(
        'Stopped by you after %1',
        formatDuration(ranSeconds(job), trans)
      );
}

/** Why a resumed job is not back yet, if it waits for something. */
function waitingSentence(job: JobSummary): string | null {
  return job.replicas_running === 0 ? (job.reason?.sentence ?? null) : null;
}

/** The last measured values, as the log names them: “test accuracy 0.991”, or in short “accuracy 0.991”. */
function metricTexts(job: JobSummary, short = false): string[] {
  return Object.entries(job.progress?.metrics ?? {})
    .slice(-METRICS_SHOWN)
    .map(([name, value]) => {
      const said = short ? lastWord(name) : name;
      return `${said} ${Number(value.toPrecision(3))}`;
    });
}

/** The word of a metric's name that says what it is: “accuracy” of “test accuracy” and “eval/accuracy”. */
function lastWord(name: string): string {
  return /[^\s/_.:-]*[a-z]{2}[^\s/_.:-]*$/i.exec(name)?.[0] ?? name;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
