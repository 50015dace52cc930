/** Notification about the jobs of a sweep that could not be created or changed. */
import { Notification } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { SweepResult } from '../api/types';
import { ERROR_STAYS } from './notices';
import { sentences } from '../common/format';

/** Notify the user of the jobs of a sweep that could not be created or changed. */
export function notifySweep(
  { jobs, problems }: SweepResult,
  trans: TranslationBundle
): void {
  const [first] = problems;
  if (!first) {
    return;
  }
  const count = trans._n(
    '%1 job of the sweep could not be changed, the first one is %2.',
    '%1 jobs of the sweep could not be changed, the first one is %2.',
    problems.length,
    first.name
  );
  const rest = jobs.length
    ? [trans._n('%1 job was changed.', '%1 jobs were changed.', jobs.length)]
    : [];
  Notification.error(sentences([count, first.message, first.hint, ...rest]), {
    autoClose: ERROR_STAYS
  });
}
