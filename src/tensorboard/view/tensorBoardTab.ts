import { TranslationBundle } from '@jupyterlab/translation';
import { JobSummary } from '../../api/types';
import { isActive } from '../../jobs/phase';
import { TensorBoardModel } from '../model/board';
import { RunCommand } from '../../common/commands';

/** Properties of the parts of a TensorBoard's tab. */
export interface IViewProps {
  model: TensorBoardModel;
  /** Load TensorBoard's page again. */
  reload(): void;
  run: RunCommand;
  trans: TranslationBundle;
}

/** The job that writes what a tab shows, if it is known. */
export function jobOf(model: TensorBoardModel): JobSummary | undefined {
  const id = model.source.jobId ?? model.board?.job_id;
  return id ? model.jobs.get(id) : undefined;
}

/** Whether a job writes nothing any more. */
export function hasEnded(job: JobSummary | undefined): boolean {
  return job !== undefined && job.phase !== 'Unknown' && !isActive(job);
}
