import { TranslationBundle } from '@jupyterlab/translation';
import { ISignal } from '@lumino/signaling';
import { ApiError } from '../../api/client';
import { JobSummary, TensorBoard } from '../../api/types';
import { isActive } from '../../jobs/phase';
import { ITensorBoardSource } from '../model/tensorboard';
import { IJobsModel } from '../../tokens';
import { RunCommand } from '../../common/commands';

/** A TensorBoard's tab, as its parts see it. */
export interface ITensorBoardView {
  readonly jobs: IJobsModel;
  readonly source: ITensorBoardSource;
  readonly board: TensorBoard | null;
  readonly error: ApiError | null;
  readonly isOpening: boolean;
  readonly readingSince: number | null;
  readonly refusals: readonly string[] | null;
  readonly changed: ISignal<ITensorBoardView, void>;
  open(): Promise<void>;
  restart(): Promise<void>;
  reload(): void;
  openInBrowser(): void;
}

export interface IViewProps {
  view: ITensorBoardView;
  run: RunCommand;
  trans: TranslationBundle;
}

/** The job that writes what a tab shows, if it is known. */
export function jobOf(view: ITensorBoardView): JobSummary | undefined {
  const id = view.source.jobId ?? view.board?.job_id;
  return id ? view.jobs.get(id) : undefined;
}

/** Whether a job writes nothing any more. */
export function hasEnded(job: JobSummary | undefined): boolean {
  return job !== undefined && job.phase !== 'Unknown' && !isActive(job);
}
