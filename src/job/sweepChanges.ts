/** Changes of all jobs of a sweep, with their dialogs; loaded when the first one is asked for. */
import { Dialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ApiClient } from '../api/client';
import { JobSummary } from '../api/types';
import { isActive } from '../jobs/phase';
import { namedDialog } from '../shell/dialog';
import { notifyError } from '../shell/notices';
import { notifySweep } from '../shell/sweepNotices';

/**
 * Stop, retry or delete the jobs of a sweep, and notify the user of those that could not be changed.
 *
 * @param members - The jobs of the sweep.
 */
export async function changeSweep(
  change: 'stop' | 'retry' | 'delete',
  id: string,
  members: readonly JobSummary[],
  api: ApiClient,
  trans: TranslationBundle
): Promise<void> {
  try {
    if (change === 'retry') {
      notifySweep(await api.retrySweep(id), trans);
    } else if (change === 'stop') {
      if (await confirmStop(members, trans)) {
        notifySweep(await api.stopSweep(id), trans);
      }
    } else if (await confirmDelete(members, trans)) {
      notifySweep(await api.deleteSweep(id), trans);
    }
  } catch (error) {
    notifyError(error, trans);
  }
}

const confirmStop = (
  members: readonly JobSummary[],
  trans: TranslationBundle
): Promise<boolean> =>
  confirm(
    trans.__('Stop the sweep %1?', nameOf(members)),
    trans._n(
      '%1 job will be stopped and lose its progress since the last checkpoint. Checkpoints, event files and logs are kept.',
      '%1 jobs will be stopped and lose their progress since the last checkpoint. Checkpoints, event files and logs are kept.',
      members.filter(job => job.actions.includes('stop')).length
    ),
    trans.__('Stop')
  );

const confirmDelete = (
  members: readonly JobSummary[],
  trans: TranslationBundle
): Promise<boolean> => {
  const active = members.filter(isActive).length;
  const deleted = trans._n(
    '%1 job will be deleted. Its record, its logs and the files that it wrote are kept.',
    '%1 jobs will be deleted. Their records, their logs and the files that they wrote are kept.',
    members.length
  );
  const ended = trans._n(
    '%1 job that runs or waits is ended before.',
    '%1 jobs that run or wait are ended before.',
    active
  );
  return confirm(
    trans.__('Delete the sweep %1?', nameOf(members)),
    active > 0 ? `${deleted} ${ended}` : deleted,
    trans.__('Delete')
  );
};

/** Return the name of the sweep to which jobs belong. */
function nameOf([first]: readonly JobSummary[]): string {
  return first?.sweep?.name ?? '';
}

async function confirm(
  title: string,
  body: string,
  label: string
): Promise<boolean> {
  const { button } = await namedDialog({
    title,
    body,
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label })],
    defaultButton: 0
  }).launch();
  return button.accept;
}
