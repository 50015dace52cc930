/** Functions of the lab that the pages of a run and of a comparison use. */
import { RemovalItem } from '../../api/types';

/** The lab around a page. */
export interface IRunLab {
  /** Show a job's tab. With a time in seconds since the epoch, show its log at that time. */
  openJob(id: string, time?: number): void;
  /** Show the use of resources of a job at a time in seconds since the epoch. */
  openResources(id: string, time: number): void;
  /** Show the page of a run. */
  openRun(id: string): void;
  /** Show the comparison of runs. */
  openComparison(ids: readonly string[]): void;
  /** Show the runs that match a filter in the table of runs. */
  openRuns(filter: string): void;
  /** True if this version has pages of artifacts. */
  hasArtifacts: boolean;
  /** Show the page of an artifact. */
  openArtifact(id: string): void;
  /** Show a file of the workspace. */
  openFile(path: string): void;
  /** Show folders in one TensorBoard. */
  openTensorBoard(paths: readonly string[]): void;
  /** Return the log directories of a job; empty if the job is unknown. */
  logDirs(jobId: string): readonly string[];
  /** Let the user edit a line; null if the user cancels. */
  askText(title: string, label: string, text: string): Promise<string | null>;
  /** Let the user choose runs to compare by their names; null if the user cancels. */
  askRuns(title: string, names: readonly string[]): Promise<string[] | null>;
  /** Let the user confirm that folders are deleted; they are listed with their sizes. */
  confirmRemoval(
    text: { title: string; says: string },
    items: readonly RemovalItem[]
  ): Promise<boolean>;
  /** Close the page's tab. */
  close(): void;
  /** Copy a text, and confirm it. */
  copy(text: string, done: string): void;
  /** Address of the page of runs, which can be opened in a browser. */
  address(page: 'run' | 'comparison', ids: readonly string[]): string;
  /** Show an error as a notification. */
  notifyError(error: unknown): void;
}
