/** State of a launch tab, and the objects from which a tab is opened. */
import { EngineName } from '../../api/aliases';
import { ApiError } from '../../api/errors';
import {
  Check,
  CreateJob,
  CreateSweep,
  JobSpec,
  NotebookLaunch,
  Prefill,
  QueueList,
  Volume
} from '../../api/types';
import { ILaunchForm } from '../content/form';
import { ILocation, SERVERS_CHOICE } from '../../cluster/model/locations';

/** Source of the form's content: the file's last submission, another job, or the defaults. */
export type Start = 'last' | 'job' | 'defaults';

/** A job whose spec fills the form. */
export interface IClone extends Partial<ILocation> {
  /** Id of the job; missing in tabs that older versions saved. */
  id?: string;
  name: string;
  spec: JobSpec;
  /** Label of the fix that was applied to the spec. */
  fix?: string;
  /** Values of the job that the fix replaced, by JSON pointer. */
  was?: Record<string, unknown>;
}

/** A manifest that fills the form: a file or a pasted text. */
export interface IManifest {
  name: string;
  /** Path of the file in the contents API; null for a pasted text. */
  path: string | null;
  text: string;
}

/** The last submission of a file. */
export interface ILastTime extends ILocation {
  spec: JobSpec;
  /** Time of the submission, in seconds since the epoch. */
  time: number;
}

/** The last submission of any file. */
export type ILastSubmission = Omit<ILastTime, keyof ILocation>;

/** A preset that was applied to the form. */
export interface IApplied {
  name: string;
  /** Warnings about values that did not fit. */
  notes: Check[];
  /** Content of the form before; null after a later edit, which undoing would drop. */
  before: ILaunchForm | null;
  /** True after the user has closed the notice. */
  isRead: boolean;
}

/** A manifest that the user edits instead of the form. */
export interface IEditedManifest {
  text: string;
  /** The text before the user's edits. */
  before: string;
}

/** Body of the request to create a job. */
export type JobRequest = Omit<CreateJob, 'dry_run'>;

/** State of a launch tab. */
export interface ILaunchState extends ILocation {
  /** Path of the form's file in the contents API; null if the job has no file. */
  path: string | null;
  /** The engine to which the form is moving; null if it is not moving. */
  movingTo: EngineName | null;
  /** True while new content of the form is loading. */
  filling: boolean;
  /** True while the script's options are being read. */
  reading: boolean;
  /** Source of the form's content. */
  start: Start;
  /** The command of a notebook from which the form was filled; null for another source. */
  launchedBy: NotebookLaunch | null;
  /** The job from which the form was opened. */
  clone: IClone | null;
  /** Title of a tab without a file and without a job: the name of the manifest. */
  title: string | null;
  /** The file's last submission; null if there is none. */
  lastTime: ILastTime | null;
  /** The last submission of any file; null if there is none. */
  lastSubmission: ILastSubmission | null;
  /** The spec of the cloned job as the form was filled with it; null if the form started from something else. */
  original: JobSpec | null;
  /** The preset that was applied last; null if it was undone, or the form was filled anew. */
  applied: IApplied | null;
  /** The last prefilled form of the server; null before the first answer. */
  prefill: Prefill | null;
  /** Error of the request for a prefilled form; null if it succeeded. */
  failure: ApiError | null;
  /** Content of the form; null before the first prefilled form. */
  form: ILaunchForm | null;
  /** The manifest that the user edits and submits instead of the form; null while the form is used. */
  manifest: IEditedManifest | null;
  /** The manifest that the user has written before; the form's manifest keeps its comments. Null if there is none. */
  written: string | null;
  /** Messages about values that were lost, corrected or assumed when the form was filled. */
  notes: Check[];
  /** Name of the field that the user edited last. */
  lastEdited: string | null;
  /** PVCs of the namespace, or the error of the request; null before the answer. */
  volumes: { list: Volume[]; failure: ApiError | null } | null;
  /** Queues of the namespace; null before the answer. */
  queues: QueueList | null;
  /** Images of earlier jobs, the most recent first. */
  images: string[];
  /** The request that blocks other requests; null if there is none. */
  busy: 'submitting' | 'checking' | 'reading' | null;
  /** The last request to create the job. A repeated request has the same id, so the server creates one job. */
  sent: JobRequest | null;
  /** The last request to create the jobs of a sweep, which is repeated in the same way. */
  sentSweep: CreateSweep | null;
  /** The server's refusal of the current form; null after an edit. */
  refusal: ApiError | null;
  /** True if the last dry run found no errors and the form has not changed since. */
  dryRunPassed: boolean;
}

/** Return the state of a tab before the server's first answer. */
export function beginningState(options: {
  path: string | null;
  clone?: IClone | null;
  manifest?: IManifest | null;
}): ILaunchState {
  return {
    path: options.path,
    ...SERVERS_CHOICE,
    movingTo: null,
    filling: false,
    reading: false,
    start: 'defaults',
    launchedBy: null,
    clone: options.clone ?? null,
    title: options.manifest?.name ?? null,
    lastTime: null,
    lastSubmission: null,
    original: null,
    applied: null,
    prefill: null,
    failure: null,
    form: null,
    manifest: null,
    written: null,
    notes: [],
    lastEdited: null,
    volumes: null,
    queues: null,
    images: [],
    busy: null,
    sent: null,
    sentSweep: null,
    refusal: null,
    dryRunPassed: false
  };
}
