/** Names for parts of the generated types. */
import type { JobSummary, LogStream } from './types';

/** T9k's seven phases, the same for all engines. */
export type Phase = JobSummary['phase'];
/** What can be asked of a job. */
export type Action = JobSummary['actions'][number];
/** What was asked of a job and is not reached yet. */
export type PendingAction = NonNullable<JobSummary['pending_action']>;
/** Where jobs run. */
export type EngineName = JobSummary['engine'];
/** Where a log stream comes from. */
export type LogSource = LogStream['source'];
/** How a job is drawn: its phase, but a user's stop and a submission stand apart. */
export type JobState =
  | 'submitting'
  | 'pending'
  | 'running'
  | 'resuming'
  | 'paused'
  | 'succeeded'
  | 'failed'
  | 'stopped'
  | 'unknown';
