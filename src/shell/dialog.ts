import { Dialog } from '@jupyterlab/apputils';

/** A dialog that screen readers call by its title; the lab names only those whose body is plain text. */
export function namedDialog<T>(
  options: Partial<Dialog.IOptions<T>> & { title: string }
): Dialog<T> {
  const dialog = new Dialog<T>(options);
  dialog.node.setAttribute('aria-label', options.title);
  return dialog;
}
