/** Dialog that names a saved view of a table. */
import { Dialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { namedDialog } from './dialog';

const LONGEST_NAME = 100;

/**
 * Let the user name a view. Null if the user cancels.
 *
 * @param taken - Names of the saved views. The dialog says that such a view is replaced.
 */
export async function askViewName(
  taken: readonly string[],
  trans: TranslationBundle
): Promise<string | null> {
  const node = document.createElement('div');
  node.className = 'jp-t9k-View jp-t9k-Confirm';
  const label = document.createElement('label');
  const input = document.createElement('input');
  input.className = 'jp-mod-styled';
  input.autocomplete = 'off';
  input.maxLength = LONGEST_NAME;
  // JupyterLab disables the button of a dialog while a field is invalid.
  input.required = true;
  input.pattern = '.*\\S.*';
  label.append(`${trans.__('Name')} `, input);
  const note = document.createElement('p');
  note.setAttribute('role', 'status');
  node.append(label, note);
  const dialog = namedDialog({
    title: trans.__('Save the view'),
    body: new Widget({ node }),
    buttons: [
      Dialog.cancelButton(),
      Dialog.okButton({ label: trans.__('Save') })
    ],
    focusNodeSelector: 'input'
  });
  const check = (): void => {
    const isTaken = taken.includes(input.value.trim());
    note.textContent = isTaken
      ? trans.__('A view has this name already. Its settings will be replaced.')
      : '';
    const button = dialog.node.querySelector('.jp-mod-accept > div:last-child');
    if (button) {
      const text = isTaken ? trans.__('Replace') : trans.__('Save');
      button.textContent = text;
      button.setAttribute('aria-label', text);
    }
  };
  input.addEventListener('input', check);
  // JupyterLab checks the fields of a dialog only when there is input.
  input.addEventListener(
    'focus',
    () => input.dispatchEvent(new Event('input', { bubbles: true })),
    { once: true }
  );
  const { button } = await dialog.launch();
  return button.accept ? input.value.trim() : null;
}
