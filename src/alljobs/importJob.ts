/** Import of a job's archive. */
import { Notification } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { expectApiError } from '../api/errors';
import { CommandIDs, IJobsModel } from '../tokens';

/**
 * Show the job of an archive in a tab.
 *
 * @param commands - Commands of the lab.
 * @param jobs - The jobs.
 * @param path - Path of the archive in the contents API.
 * @param trans - Texts.
 */
export async function importJob(
  commands: CommandRegistry,
  jobs: IJobsModel,
  path: string,
  trans: TranslationBundle
): Promise<void> {
  const name = path.split('/').pop() ?? path;
  const notice = Notification.emit(
    trans.__('Importing %1…', name),
    'in-progress',
    { autoClose: false }
  );
  try {
    const { id } = await jobs.api.importJob(path);
    Notification.dismiss(notice);
    await commands.execute(CommandIDs.openJob, { id });
  } catch (error) {
    const { message, hint, verbatim } = expectApiError(error);
    Notification.update({
      id: notice,
      type: 'error',
      message: [
        trans.__('%1 was not imported. %2', name, message),
        hint,
        verbatim
      ]
        .filter(Boolean)
        .join('\n'),
      autoClose: false
    });
  }
}
