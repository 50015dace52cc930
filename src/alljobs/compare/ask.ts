/** Dialog that chooses jobs to compare. */
import { InputDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { IJobsModel } from '../../tokens';

/** Jobs that the dialog offers: the newest. */
const MOST_OFFERED = 200;

/**
 * Let the user choose further jobs of a comparison; null if the user cancels.
 *
 * @param known - Ids of the jobs that are compared already.
 */
export async function askJobs(
  jobs: IJobsModel,
  known: readonly string[],
  trans: TranslationBundle
): Promise<string[] | null> {
  const others = jobs.jobs
    .filter(({ id }) => !known.includes(id))
    .slice(0, MOST_OFFERED);
  const { value } = await InputDialog.getMultipleItems({
    title: trans.__('Add jobs to the comparison'),
    items: others.map(({ name }) => name)
  });
  return (
    value &&
    others.filter(({ name }) => value.includes(name)).map(({ id }) => id)
  );
}
