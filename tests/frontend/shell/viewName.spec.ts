/** The dialog that names a saved view. */
import { Dialog } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { waitFor } from '@testing-library/react';
import { askViewName } from '../../../src/shell/viewName';

const trans = nullTranslator.load('');

describe('the dialog that names a view', () => {
  afterEach(() => Dialog.flush());

  /** Open the dialog with the names that views have; its field has the focus. */
  const open = async (taken: string[]) => {
    const answer = askViewName(taken, trans);
    await waitFor(() =>
      expect(document.querySelector('.jp-Dialog input:focus')).not.toBeNull()
    );
    const node = document.querySelector('.jp-Dialog') as HTMLElement;
    const input = node.querySelector('input') as HTMLInputElement;
    const accept = node.querySelector('.jp-mod-accept') as HTMLButtonElement;
    const write = (text: string): void => {
      input.value = text;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    return { answer, node, input, accept, write };
  };

  it('saves no view without a name', async () => {
    const { answer, accept, input, write } = await open([]);
    expect(accept.disabled).toBe(true);
    write('  ');
    expect(accept.disabled).toBe(true);
    input.dispatchEvent(
      new KeyboardEvent('keydown', { keyCode: 13, bubbles: true })
    );
    write(' night ');
    expect(accept.disabled).toBe(false);
    accept.click();
    expect(await answer).toBe('night');
  });

  it('says that a view of the same name is replaced', async () => {
    const { answer, node, accept, write } = await open(['night']);
    expect(accept.textContent).toBe('Save');
    write('night ');
    expect(accept.textContent).toBe('Replace');
    expect(accept.querySelector('[aria-label=Replace]')).not.toBeNull();
    expect(node.querySelector('[role=status]')?.textContent).toBe(
      'A view has this name already. Its settings will be replaced.'
    );
    write('nights');
    expect(accept.textContent).toBe('Save');
    expect(node.querySelector('[role=status]')?.textContent).toBe('');
    write('night');
    accept.click();
    expect(await answer).toBe('night');
  });

  it('has no answer if it is cancelled', async () => {
    const { answer, node, write } = await open([]);
    write('night');
    node.querySelector<HTMLElement>('.jp-mod-reject')?.click();
    expect(await answer).toBeNull();
  });
});
