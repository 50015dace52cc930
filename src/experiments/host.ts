/** The parts of the lab that the pages of the experiments use. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IStateDB } from '@jupyterlab/statedb';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { IPageAddress } from '../shell/pageTabs';
import { IJobsModel } from '../tokens';

/** The parts of the lab that the pages use. */
export interface IExperimentsLab {
  app: JupyterFrontEnd;
  /** The jobs; `jobs.api.serverSettings` are the settings of requests. */
  jobs: IJobsModel;
  /** Opens the dialog that chooses a folder; null if the lab has no document manager. */
  documents: IDocumentManager | null;
  /** Keeps the state of the pages; null if the lab has no state database. */
  stateDB: IStateDB | null;
  trans: TranslationBundle;
  /** Return true if this version has a kind of page. */
  hasPage(page: string): boolean;
}

/** Creates the content of a page. Each kind of page has a module with a function of this type. */
export type CreatePage = (
  address: IPageAddress,
  lab: IExperimentsLab
) => Promise<Widget>;
