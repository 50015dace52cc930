/** Texts of a job's tab: state, location, size and failure. */
import { TranslationBundle } from '@jupyterlab/translation';
import { EngineInfo, Failure, Job, JobSummary } from '../../api/types';
import {
  formatClock,
  formatDuration,
  formatEnd,
  formatMoment,
  sentences
} from '../../common/format';
import {
  engineOf,
  isOnMachine,
  isTheMachine,
  labelOf
} from '../../jobs/engines';
import { isStalled, stateOf } from '../../jobs/phase';
import { ranSeconds } from '../../jobs/runtime';
import { jobSentence, stallSentence } from '../../jobs/sentence';

/**
 * Return a job's state with its duration: “Running for 3 min 41 s”.
 *
 * @param job - The job.
 * @param now - Time at which the job's state is known to be current, in seconds since the epoch.
 */
export function ageText(
  job: JobSummary,
  now: number,
  trans: TranslationBundle
): string {
  const { ended_at, created_at } = job;
  switch (stateOf(job)) {
    case 'submitting':
      return trans.__('Submitting…');
    case 'pending':
      return trans.__(
        'Waiting for %1',
        formatDuration(now - created_at, trans)
      );
    case 'running':
      return trans.__(
        'Running for %1',
        formatDuration(ranSeconds(job, now), trans)
      );
    case 'resuming':
      return trans.__('Resuming');
    case 'paused':
      return trans.__('Paused');
    case 'succeeded':
      return endText(job, trans, {
        ended: trans.__('Succeeded'),
        at: when => trans.__('Succeeded %1', when),
        after: (when, ran) => trans.__('Succeeded %1 after %2', when, ran)
      });
    case 'failed':
      return endText(job, trans, {
        ended: trans.__('Failed'),
        at: when => trans.__('Failed %1', when),
        after: (when, ran) => trans.__('Failed %1 after %2', when, ran)
      });
    case 'stopped':
      return endText(job, trans, {
        ended: trans.__('Stopped'),
        at: when => trans.__('Stopped %1', when),
        after: (when, ran) => trans.__('Stopped %1 after %2', when, ran)
      });
    case 'unknown':
      return ended_at === null
        ? trans.__('State unknown')
        : endText(job, trans, {
            ended: trans.__('Ended'),
            at: when => trans.__('Ended %1', when),
            after: (when, ran) => trans.__('Ended %1 after %2', when, ran)
          });
  }
}

/** Texts for the end of a job: without a time, with its time, and with the job's duration. */
interface IEndTexts {
  ended: string;
  at(when: string): string;
  after(when: string, ran: string): string;
}

/** Return how and when a job ended, and for how long it ran. */
function endText(
  job: JobSummary,
  trans: TranslationBundle,
  texts: IEndTexts
): string {
  const { started_at, ended_at } = job;
  if (ended_at === null) {
    return texts.ended;
  }
  const when = formatMoment(ended_at, trans);
  return started_at === null
    ? texts.at(when)
    : texts.after(when, formatDuration(ranSeconds(job, ended_at), trans));
}

/** Return the location of a job: “this machine”, “T9k, namespace demo”. */
export function whereText(
  job: JobSummary,
  engines: readonly EngineInfo[],
  trans: TranslationBundle
): string {
  if (isOnMachine(engines, job.engine) && job.read_only !== null) {
    return trans.__('another machine');
  }
  if (isTheMachine(engines, job.engine)) {
    return trans.__('this machine');
  }
  const label = labelOf(engines, job.engine);
  return job.namespace
    ? trans.__('%1, namespace %2', label, job.namespace)
    : label;
}

const GPU = 'nvidia.com/gpu';

/** Return the size of a job: “16 A100”, “12 GPUs”, “4 processes on CPU”. */
export function sizeText(job: JobSummary, trans: TranslationBundle): string {
  if (job.devices?.count) {
    return devicesText(job.devices, trans);
  }
  return job.processes === null
    ? trans._n('%1 replica', '%1 replicas', job.replicas)
    : trans._n('%1 process on CPU', '%1 processes on CPU', job.processes);
}

/** Return a number of accelerators: “12 GPUs”, “16 A100”. */
export function devicesText(
  { count, name }: { count: number; name: string },
  trans: TranslationBundle
): string {
  return name === GPU
    ? trans._n('%1 GPU', '%1 GPUs', count)
    : `${count} ${name}`;
}

/** Return the second line of the header: the reason of the job's state, the number of restarts and a hint. */
export function whyText(
  job: JobSummary,
  engines: readonly EngineInfo[],
  trans: TranslationBundle
): string {
  const sentence = job.pending_action
    ? (endingText(job, engines, trans) ?? job.reason?.sentence ?? '')
    : isStalled(job)
      ? stallSentence(job.stalled, trans)
      : (job.reason?.sentence ?? jobSentence(job, trans));
  const parts = [withStop(sentence)];
  if (job.restarts > 0 && job.phase === 'Running') {
    parts.push(
      trans._n('Restarted once.', 'Restarted %1 times.', job.restarts)
    );
  }
  const hint = job.state === 'Failed' ? null : job.reason?.hint;
  if (hint) {
    parts.push(withStop(hint));
  }
  return sentences(parts);
}

/**
 * Return a sentence about a job that is being stopped, paused or deleted: how its processes end. Returns null
 * if no process has to end.
 */
function endingText(
  job: JobSummary,
  engines: readonly EngineInfo[],
  trans: TranslationBundle
): string | null {
  const ends = ['stopping', 'pausing', 'deleting'];
  if (!ends.includes(job.pending_action ?? '') || job.replicas_running === 0) {
    return null;
  }
  const grace = engineOf(engines, job.engine)?.grace_seconds;
  return grace == null
    ? trans.__('Its processes are asked to end.')
    : trans.__(
        'Its processes are asked to end. Processes that still run after %1 are killed.',
        formatDuration(grace, trans)
      );
}

/** Return which rank failed, how and when: “Rank 3 on worker-0 ended at 10:42:07: Error (1).” */
export function failureText(
  failure: Failure,
  job: Job,
  trans: TranslationBundle
): string {
  const said = [withStop(failedText(failure, trans))];
  if (job.attempt > 1) {
    said.push(trans.__('This was attempt %1.', failure.attempt));
  }
  if (failure.rank !== null && (job.processes ?? 0) > 1) {
    said.push(
      trans._n(
        'It was the first of %1 rank to fail.',
        'It was the first of %1 ranks to fail.',
        job.processes ?? 0
      )
    );
  }
  return sentences(said);
}

function failedText(
  { rank, replica, time, ...end }: Failure,
  trans: TranslationBundle
): string {
  const code = formatEnd(end, trans);
  const clock = time === null ? null : formatClock(time, true);
  if (rank === null) {
    return clock === null
      ? trans.__('%1 ended: %2', replica, code)
      : trans.__('%1 ended at %2: %3', replica, clock, code);
  }
  return clock === null
    ? trans.__('Rank %1 on %2 ended: %3', rank, replica, code)
    : trans.__('Rank %1 on %2 ended at %3: %4', rank, replica, clock, code);
}

/** Add a full stop to a text that has no closing punctuation. */
function withStop(text: string): string {
  return text === '' || /[.…:!?。：！？]$/.test(text) ? text : `${text}.`;
}
