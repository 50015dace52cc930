/** Names for parts of the generated types of the API. */
import type { JobSpec, JobSummary, LogStream } from './types';

/** A phase of a job. All engines use the seven phases of T9k. */
export type Phase = JobSummary['phase'];
/** An action that can be requested for a job. */
export type Action = JobSummary['actions'][number];
/** A requested action whose effect is not reached yet. */
export type PendingAction = NonNullable<JobSummary['pending_action']>;
/** Name of an engine. */
export type EngineName = JobSummary['engine'];
/** Origin of a job's code: a snapshot or a git repository. */
export type CodeSource = NonNullable<JobSpec['source']>;
/** Source of a log stream. */
export type LogSource = LogStream['source'];
/**
 * State that selects a job's icon, colour and word: the state that the server tells, with separate states for
 * a submission and for a running job without progress.
 */
export type JobState =
  Lowercase<JobSummary['state']> | 'submitting' | 'stalled';
