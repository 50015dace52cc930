/** What a launch tab is opened with, and what it shows. */
import { EngineName } from '../../api/aliases';
import { ApiError } from '../../api/client';
import {
  Check,
  CreateJob,
  JobSpec,
  Prefill,
  QueueList,
  Volume
} from '../../api/types';
import { ILaunchForm } from './form';
import { IPlace, SERVERS_CHOICE } from '../../cluster/model/places';

/** What a form can start from. */
export type Start = 'last' | 'job' | 'defaults';

/** The job whose spec a form starts from. */
export interface IClone extends Partial<IPlace> {
  /** The id of the job; missing in tabs that older versions have kept. */
  id?: string;
  name: string;
  spec: JobSpec;
  /** What the spec was changed in on the way: the label of the change. */
  fix?: string;
}

/** A manifest that a form starts from: a file's, or one that was pasted. */
export interface IManifest {
  name: string;
  /** The file, as the contents API names it; null for a pasted one. */
  path: string | null;
  text: string;
}

/** What a file was last submitted with. */
export interface ILastTime extends IPlace {
  spec: JobSpec;
  /** Seconds since the epoch. */
  time: number;
}

/** A manifest that is edited by hand, in place of the form. */
export interface IEditedManifest {
  text: string;
  /** The text that the editing began with. */
  before: string;
}

/** A request to create a job. */
export type JobRequest = Omit<CreateJob, 'dry_run'>;

/** What a launch tab shows. */
export interface ILaunchState extends IPlace {
  /** The file that the form is for; null if the job runs none. */
  path: string | null;
  /** The engine that the form is being moved to. */
  movingTo: EngineName | null;
  /** The form is being replaced as a whole. */
  filling: boolean;
  /** The script is being read for its options. */
  reading: boolean;
  start: Start;
  clone: IClone | null;
  /** What the tab is called where it is for no file and no job: the manifest's name. */
  title: string | null;
  /** What the file was last submitted with. */
  lastTime: ILastTime | null;
  /** What the server filled in; null before the first answer. */
  prefill: Prefill | null;
  /** Why the server could not fill it in. */
  failure: ApiError | null;
  form: ILaunchForm | null;
  /** While there is one, it is what is submitted, and the form is locked. */
  manifest: IEditedManifest | null;
  /** What was lost, mended or assumed on the way into this form. */
  notes: Check[];
  /** The field that was changed last. */
  lastEdited: string | null;
  /** PVCs of the namespace, or why they can't be listed; null before the answer. */
  volumes: { list: Volume[]; failure: ApiError | null } | null;
  /** Queues of the namespace; null before the answer. */
  queues: QueueList | null;
  /** Images of earlier jobs, the last first. */
  images: string[];
  busy: 'submitting' | 'checking' | 'reading' | null;
  /** The last request to create the job. The same job is requested by the same id, so that it is not made twice. */
  sent: JobRequest | null;
  /** The server's refusal of the form as it is. */
  refusal: ApiError | null;
  /** The last dry run found nothing wrong, and nothing was changed since. */
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
    clone: options.clone ?? null,
    title: options.manifest?.name ?? null,
    lastTime: null,
    prefill: null,
    failure: null,
    form: null,
    manifest: null,
    notes: [],
    lastEdited: null,
    volumes: null,
    queues: null,
    images: [],
    busy: null,
    sent: null,
    refusal: null,
    dryRunPassed: false
  };
}
