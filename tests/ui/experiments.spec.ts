/** The table of runs: real files of the recorder, from the filter to what can be done with the runs. */
import { execFileSync } from 'child_process';
import path from 'path';
import { expectAccessible } from './helpers/accessible';
import { expect, test } from './helpers/lab';
import { picture } from './helpers/pictures';

/** Records runs of two models; the better ones learn slower. */
const RECORDS = `
import sys
from jupyterlab_t9kjob import em

for model, start in (("vit-s16", 0.9), ("resnet50", 0.8)):
    for number, lr in enumerate((0.1, 0.01, 0.003)):
        hparams = {"lr": lr, "model": model, "batch_size": 64, "optimizer": {"name": "adamw"}}
        with em.create_run(name=f"{model}-{number}", hparams=hparams) as run:
            for step in range(20):
                accuracy = start + 0.004 * step * (1 - lr)
                run.log("val", {"accuracy": accuracy, "loss": 1 - accuracy}, step=step, epoch=step // 4)
`;

test('the table of runs', async ({ page, tmpPath }, info) => {
  const root = path.resolve(
    __dirname,
    `../../build/ui/newest-${info.parallelIndex}/root`
  );
  const record = (script: string): void => {
    const python = path.join(process.env.T9KJOB_UI_ENV ?? '', 'bin/python');
    const parent = path.join(root, tmpPath, '.em/runs');
    execFileSync(python, ['-c', script], {
      env: { ...process.env, EM_RUN_PARENT_DIR: parent }
    });
  };
  record(RECORDS);
  const grid = page.getByRole('grid', { name: 'Runs' });
  const rows = grid.locator('tr[data-run]');
  const row = (name: string) => rows.filter({ hasText: name });
  const filter = page.getByRole('combobox', { name: 'Filter the runs' });

  await test.step('the folder shows its runs', async () => {
    await page.filebrowser.openDirectory('');
    await page
      .getByRole('listitem', { name: new RegExp(`^Name: ${tmpPath}`) })
      .click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Show Experiments' }).click();
    await expect(rows).toHaveCount(6);
    await expect(row('vit-s16-2')).toContainText('3e-3');
    await expect(row('vit-s16-2')).toContainText('Complete');
    await expect(row('vit-s16-2')).toContainText('best');
    await expectAccessible(page);
    await picture(page, 'runs-table');
  });

  await test.step('the filter names errors and completes names', async () => {
    await filter.pressSequentially('val.acuracy > 0.9');
    const field = page.locator('.jp-t9k-Runs-filter');
    await expect(field).toContainText('No run has “val.acuracy”.');
    await expect(rows).toHaveCount(6);
    await expectAccessible(page);
    await picture(page, 'runs-error');
    await page.getByRole('button', { name: 'Use val.accuracy' }).click();
    await expect(rows).toHaveCount(3);
    await filter.press('End');
    await filter.pressSequentially(' and l');
    await expect(page.getByRole('option').first()).toContainText('lr');
    await filter.press('ArrowDown');
    await filter.press('Enter');
    await filter.pressSequentially(' < 0.05');
    await expect(rows).toHaveCount(2);
    await filter.fill('lr > 1 and val.accuracy > 0.9');
    await expect(page.getByText('No run of the 6 matches')).toBeVisible();
    await page.getByRole('button', { name: 'Drop this condition' }).click();
    await expect(rows).toHaveCount(3);
    await filter.press('Escape');
    await expect(filter).toHaveValue('');
    await expect(rows).toHaveCount(6);
  });

  await test.step('rows are sorted, grouped and chosen', async () => {
    await grid.getByRole('button', { name: 'val.accuracy' }).click();
    await expect(rows.first()).toContainText('vit-s16-2');
    await page.getByRole('button', { name: 'Group by' }).click();
    await page.getByRole('menuitem', { name: 'model' }).click();
    await expect(grid).toContainText(
      '3 runs · val.accuracy: best 0.9758, mean 0.9731'
    );
    await page.getByRole('button', { name: 'Columns' }).click();
    const pane = page.getByRole('dialog', { name: 'Columns' });
    await pane.getByLabel('optimizer.name').check();
    await expectAccessible(page);
    await picture(page, 'runs-columns');
    await grid
      .locator('th')
      .first()
      .click({ position: { x: 2, y: 2 } });
    await expect(pane).toHaveCount(0);
    await expect(row('vit-s16-2')).toContainText('adamw');
  });

  await test.step('the keyboard selects and tags', async () => {
    await row('vit-s16-2').locator('td').nth(2).click();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Space');
    await expect(page.getByText('2 selected')).toBeVisible();
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('report, <b>x</b>');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(row('vit-s16-2')).toContainText('<b>x</b>');
    await expectAccessible(page);
    await picture(page, 'runs-selection');
  });

  await test.step('the comparison opens in a tab', async () => {
    await row('vit-s16-1').locator('td').nth(2).click();
    await page.keyboard.press('c');
    const tab = page.getByRole('main').getByRole('tab', { selected: true });
    await expect(tab).not.toHaveText('Experiments');
    await page.getByRole('tab', { name: 'Experiments' }).click();
  });

  await test.step('a new run appears by itself', async () => {
    const more = 'em.create_run(name="later", hparams={"lr": 1.0}).finish()';
    record(`from jupyterlab_t9kjob import em\n${more}`);
    await expect(row('later')).toBeVisible();
  });

  await test.step('runs are deleted, and the rest is there after a reload', async () => {
    await row('later').locator('td').nth(2).click();
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await row('later').locator('td').nth(2).click();
    await page.keyboard.press('Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete later?' });
    await expect(dialog).toContainText(`${tmpPath}/.em/runs/`);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(row('later')).toHaveCount(0);
    // Galata's own option: no launcher is waited for, because the restored tabs are in its place.
    const options: object = { waitForIsReady: false };
    await page.reload(options);
    await expect(rows).toHaveCount(6);
    await expect(row('vit-s16-2')).toContainText('report');
    await expect(row('vit-s16-2')).toContainText('adamw');
  });

  await test.step('a narrow tab keeps name, status and the sorted metric', async () => {
    await page.setViewportSize({ width: 720, height: 900 });
    await expect(grid.locator('th')).toHaveCount(5);
    await expectAccessible(page);
    await picture(page, 'runs-narrow');
  });
});
