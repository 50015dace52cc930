/** A notebook as a job: its cells in the form, the script beside them, and the choice of selected cells. */
import { expectAccessible } from './helpers/accessible';
import { expect, mainArea, run, test, writeFile } from './helpers/lab';
import { picture } from './helpers/pictures';

const cell = (id: string, source: string, ...tags: string[]): object => ({
  ...{ id, source, cell_type: 'code', metadata: { tags } },
  ...{ outputs: [], execution_count: null }
});
const NOTEBOOK = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
  cells: [
    { id: 'a0', cell_type: 'markdown', metadata: {}, source: '# Explore' },
    cell('a1', '!pip install -q timm==1.0.9'),
    cell('a2', 'lr = 3e-4  # step size\nepochs = 15', 'parameters'),
    cell('a3', '%%writefile augment.py\nx = 1'),
    cell('a4', '%matplotlib inline'),
    cell('a5', 'show_samples()', 'skip-job'),
    cell('a6', 'answer = input("Save? ")'),
    cell('a7', 'for epoch in range(epochs):\n    print(epoch, lr)')
  ]
});

test('the cells of a notebook in the form', async ({ page, tmpPath }) => {
  const file = `${tmpPath}/explore.ipynb`;
  await writeFile(page, file, NOTEBOOK);
  await run(page, 't9kjob:launch', { path: file });
  const form = mainArea(page).getByRole('form', { name: 'Run explore.ipynb' });
  const cells = form.getByRole('listbox', { name: 'Code cells' });
  await expect(form.getByText('5 of 7 code cells run')).toBeVisible();
  await expect(cells.getByRole('option', { selected: true })).toHaveCount(5);
  await expect(cells).toContainText('Install step: -q timm==1.0.9');
  await expect(form.getByLabel('--epochs', { exact: true })).toHaveValue('15');

  await form.getByRole('button', { name: 'Leave it out' }).click();
  await expect(form.getByText('4 of 7 code cells run')).toBeVisible();
  await form.getByLabel('--lr', { exact: true }).fill('1e-3');
  await form.getByRole('radio', { name: 'Script' }).click();
  const script = form.getByRole('group', { name: 'Script' });
  await expect(script.getByRole('heading')).toHaveCount(4);
  await expect(script).toContainText('--lr 1e-3');
  await expectAccessible(page);
  await picture(page, 'launch-notebook');
  await form.getByRole('radio', { name: 'Job' }).click();
  await expect(form.getByRole('group', { name: 'Command' })).toContainText(
    '--t9kjob-cells a1,a2,a3,a7'
  );

  // The keyboard opens a cell; the command runs what is selected there.
  await cells.focus();
  await cells.press('End');
  await cells.press('Enter');
  await expect(page.locator('.jp-Notebook .jp-Cell').nth(7)).toHaveClass(
    /jp-mod-active/
  );
  await run(page, 't9kjob:launch-cells');
  // The lab changes the notebook's metadata when its kernel has started.
  const save = page.getByRole('button', { name: 'Save and continue' });
  const chosen = form.getByText('1 of 7 code cells run');
  await expect(save.or(chosen)).toBeVisible();
  if (await save.isVisible()) {
    await save.click();
  }
  await expect(chosen).toBeVisible();
});
