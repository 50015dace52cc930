/** Folders of runs that TensorBoard can show. */
import { RunRow } from '../../../api/types';
import { IRunLab } from '../pageLab';

/**
 * Return the folders with the event files of runs: the log directories of their jobs, or the folders of the runs
 * that consist of event files.
 */
export function tensorBoardPaths(
  runs: readonly RunRow[],
  lab: Pick<IRunLab, 'logDirs'>
): string[] {
  const paths = runs.flatMap(({ origin, path, job }) => {
    if (origin === 'events' && path !== null) {
      return [path];
    }
    return job ? lab.logDirs(job.id) : [];
  });
  return [...new Set(paths)];
}
