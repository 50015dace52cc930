/** The parts of the lab that the pages about all jobs use. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { IStateDB } from '@jupyterlab/statedb';
import { TranslationBundle } from '@jupyterlab/translation';
import { IJobsModel } from '../tokens';

/** The parts of the lab that the pages use. */
export interface IAllJobsLab {
  app: JupyterFrontEnd;
  jobs: IJobsModel;
  /** Keeps the state of the pages; null if the lab has no state database. */
  stateDB: IStateDB | null;
  trans: TranslationBundle;
}
