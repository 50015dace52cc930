/** Properties and functions that the components of a TensorBoard's tab share. */

import { TranslationBundle } from '@jupyterlab/translation';
import { JobSummary } from '../../api/types';
import { isActive } from '../../jobs/phase';
import { TensorBoardModel } from '../model/board';
import { RunCommand } from '../../common/commands';

/** Properties of the components of a TensorBoard's tab. */
export interface IViewProps {
  model: TensorBoardModel;
  /** Load TensorBoard's page again. */
  reload(): void;
  run: RunCommand;
  trans: TranslationBundle;
}

/** Return the job that writes the event files; undefined if it is not known. */
export function jobOf(model: TensorBoardModel): JobSummary | undefined {
  const id = model.source.jobId ?? model.board?.job_id;
  return id ? model.jobs.get(id) : undefined;
}

/** Return true if a job has finished and writes no more event files. */
export function hasEnded(job: JobSummary | undefined): boolean {
  return job !== undefined && job.phase !== 'Unknown' && !isActive(job);
}
