/** Notifications of errors. */

import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { ApiError } from '../api/errors';
import { sentences } from '../common/format';

/**
 * Duration of the notification of an error or of a failed job, in ms.
 *
 * The notification of a failed job has a button that opens a launch form, and it covers the form's buttons
 * until it closes. The notification center keeps it, and the timer does not run while the page is inactive.
 */
export const ERROR_STAYS = 10_000;

/**
 * Show an error as a notification: the message and the hint, and a button that shows the system's verbatim message.
 */
export function notifyError(error: unknown, trans: TranslationBundle): void {
  if (!(error instanceof ApiError)) {
    Notification.error(String(error), { autoClose: ERROR_STAYS });
    return;
  }
  const { verbatim } = error;
  Notification.error(sentences([error.message, error.hint]), {
    autoClose: ERROR_STAYS,
    actions: verbatim
      ? [
          {
            label: trans.__('Show details'),
            callback: () => void showVerbatim(error.message, verbatim, trans)
          }
        ]
      : []
  });
}

async function showVerbatim(
  title: string,
  text: string,
  trans: TranslationBundle
): Promise<void> {
  const body = new Widget({ node: document.createElement('pre') });
  body.node.textContent = text;
  await showDialog({
    title,
    body,
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}
