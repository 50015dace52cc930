import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { ApiError } from '../api/client';

/**
 * How long bad news stays in view, in ms: it lies over the buttons of a launch form that one comes to
 * from it. It stays in the list of notifications, and does not go while the page is left alone.
 */
export const ERROR_STAYS = 10_000;

/** Tell that something was refused: our sentence, what to do, and the system's own words behind a button. */
export function notifyError(error: unknown, trans: TranslationBundle): void {
  if (!(error instanceof ApiError)) {
    Notification.error(String(error), { autoClose: ERROR_STAYS });
    return;
  }
  const { verbatim } = error;
  Notification.error([error.message, error.hint].filter(Boolean).join(' '), {
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
