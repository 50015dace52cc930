/** Sentences about a job for lists, notifications and screen readers. */
import { TranslationBundle } from '@jupyterlab/translation';
import { PendingAction } from '../api/aliases';
import { JobSummary, Stall } from '../api/types';
import { serverNow } from '../common/clock';
import { formatAge, formatEta, listed } from '../common/format';
import {
  iconStateOf,
  isActive,
  isStalled,
  pendingText,
  stateOf,
  stateWord
} from './phase';

/** Return the display name and the unique name of a job. Runs of one file share a display name. */
export function jobTitle(
  job: Pick<JobSummary, 'name' | 'display_name'>
): string {
  return job.display_name === null || job.display_name === job.name
    ? job.name
    : `${job.display_name} (${job.name})`;
}

/**
 * Return the most useful sentence about a job, for lists.
 *
 * The server writes the sentence (`reason`), with two exceptions that change more often than the server pushes:
 * the remaining time of a running job, and an action that was requested in this page.
 *
 * @param short - Shortens a metric's name to its last word, so that its value fits into a narrow row.
 * @param now - Time at which the job's state is known to be current, in seconds.
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
  if (isStalled(job)) {
    return stallSentence(job.stalled, trans, now);
  }
  const state = stateOf(job);
  const progress = state === 'running' ? progressText(job, trans, now) : null;
  const sentence =
    progress ?? job.reason?.sentence ?? capital(stateWord(state, trans));
  return short && state === 'succeeded' ? withShortMetric(sentence) : sentence;
}

/** Return the sentence about a job without progress: “No progress for 12 min: 7 ranks wait in all_reduce”. */
export function stallSentence(
  { kind, since, finding }: Stall,
  trans: TranslationBundle,
  now = serverNow()
): string {
  const duration = formatAge(Math.max(0, now - since), trans);
  const sentence =
    kind === 'progress'
      ? trans.__('No progress for %1', duration)
      : trans.__('No output for %1', duration);
  return finding ? trans.__('%1: %2', sentence, finding) : sentence;
}

/** Return the sentence for a pending action. */
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

/** Return the sentence for the notification that a job has ended. */
export function endSentence(job: JobSummary, trans: TranslationBundle): string {
  const name = jobTitle(job);
  const why = job.reason?.sentence;
  if (job.phase === 'Succeeded') {
    return why
      ? trans.__('%1 succeeded: %2', name, why)
      : trans.__('%1 succeeded', name);
  }
  // Most reasons of a failure contain the word “failed”: “Rank 1 failed: …”.
  return why ? trans.__('%1: %2', name, why) : trans.__('%1 failed', name);
}

/** Return the accessible name of a job in a list. */
export function jobLabel(
  job: JobSummary,
  trans: TranslationBundle,
  now = serverNow()
): string {
  const parts = [
    jobTitle(job),
    stateWord(iconStateOf(job), trans),
    ...jobSentence(job, trans, false, now).split(' · ')
  ];
  if (job.deleted) {
    parts.push(trans.__('deleted'));
  }
  if (job.devices?.count) {
    parts.push(
      heldText(job, trans) ?? trans._n('%1 GPU', '%1 GPUs', job.devices.count)
    );
  }
  return listed(parts);
}

/** Return “holds 8 of 16 GPUs” for an active job that has fewer GPUs than it requests; else null. */
export function heldText(
  job: JobSummary,
  trans: TranslationBundle
): string | null {
  const { devices, devices_held } = job;
  return devices && isActive(job) && (devices_held ?? Infinity) < devices.count
    ? trans._n(
        'has %2 of %1 GPU',
        'has %2 of %1 GPUs',
        devices.count,
        devices_held
      )
    : null;
}

/** Return the progress that a job logs, with the time that remains at `now`, if any; null if the job logs none. */
function progressText(
  job: Pick<JobSummary, 'progress'>,
  trans: TranslationBundle,
  now: number
): string | null {
  const { progress } = job;
  if (!progress) {
    return null;
  }
  // Keep only the epoch and drop the batch, so that the remaining time fits into a narrow list.
  const [text] = progress.text.split(/, |，/);
  if (progress.eta_seconds === null) {
    return text;
  }
  const left = progress.eta_seconds - (now - progress.updated_at);
  // The job has become slower or makes no progress.
  return left < 0 ? text : `${text} · ${formatEta(left, trans)}`;
}

/** Shorten a metric's name to its last word: “accuracy 0.991” for “test accuracy 0.991” and “eval/accuracy 0.991”. */
function withShortMetric(sentence: string): string {
  return sentence.replace(
    / · (.+) (\S+)$/,
    (_, name: string, value: string) =>
      ` · ${/[^\s/_.:-]*[a-z]{2}[^\s/_.:-]*$/i.exec(name)?.[0] ?? name} ${value}`
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
