/** Dialogs with an accessible name. */

import { Dialog } from '@jupyterlab/apputils';

/** Create a dialog whose accessible name is its title. JupyterLab names only dialogs with a plain-text body. */
export function namedDialog<T>(
  options: Partial<Dialog.IOptions<T>> & { title: string }
): Dialog<T> {
  const dialog = new Dialog<T>(options);
  dialog.node.setAttribute('aria-label', options.title);
  return dialog;
}
