/** A sweep from the right click on a script to the end of its jobs. */
import type { JupyterLabPage } from '@jupyterlab/galata';
import { expect, mainTab, openSidebar, writeFile } from './helpers/lab';
import { picture } from './helpers/pictures';
import { test } from './helpers/samePage';

/** Waits, so that some jobs of the sweep run while others wait for their turn. */
const WAITS = `
import argparse
import time

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
parser.add_argument("--batch_size", type=int, default=32, help="of each process")
options = parser.parse_args()
for epoch in range(1, 4):
    print(f"Epoch {epoch}/3 val_loss={options.lr * epoch}", flush=True)
time.sleep(600)
`;

test('four jobs of a script, two at a time', async ({ page, tmpPath }) => {
  await writeFile(page, `${tmpPath}/wait.py`, WAITS);
  await page.filebrowser.openDirectory(tmpPath);
  await page.filebrowser.refresh();
  await page
    .getByRole('listitem', { name: /^Name: wait\.py/ })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Run as Distributed Job' }).click();
  const form = page.getByRole('form', { name: 'Run wait.py' });
  const jobs = form.getByRole('table', { name: 'Jobs of the sweep' });

  await test.step('several values in two fields, by the keyboard', async () => {
    const torchrun = form.getByLabel('Start the processes with torchrun');
    await torchrun.uncheck(); // no process needs torch
    await form.getByLabel('--lr', { exact: true }).fill('0.1');
    await page.keyboard.type(', 0.01 ,');
    await page.keyboard.press('Tab');
    const size = form.getByLabel('--batch_size', { exact: true });
    await size.fill('16..32 step 16');
    await page.keyboard.press('Tab');
    await expect(
      form.getByRole('group', { name: 'Values of --lr' }).locator('code')
    ).toHaveText(['0.1', '0.01']);
    await expect(
      form.getByRole('group', { name: 'Values of --batch_size' })
    ).toContainText('16..32 step 16');
    await expect(jobs.locator('tbody tr')).toHaveCount(4);
  });

  await test.step('the jobs before they are created', async () => {
    await expect(jobs).toContainText('starts first');
    await jobs.getByRole('button', { name: /-3$/ }).click();
    await expect(form.locator('.jp-t9k-Launch-sweepJob')).toContainText(
      '--lr 0.01'
    );
    await jobs.getByRole('checkbox', { name: /^Create .*-4$/ }).uncheck();
    await expect(
      form.getByRole('button', { name: 'Submit 3 jobs' })
    ).toBeVisible();
    await jobs.getByRole('checkbox', { name: 'Create all jobs' }).check();
    await picture(page, 'sweep-form');
  });

  const sidebar = await openSidebar(page);
  const sweep = sidebar.getByRole('treeitem', { name: /^Sweep wait/ });
  await test.step('two run, and two wait', async () => {
    await form.getByRole('button', { name: 'Submit 4 jobs' }).click();
    await expect(sweep).toHaveAccessibleName(/4 jobs, 2 running, 2 pending/);
    await expect(
      sidebar.getByRole('treeitem', { name: /^wait-\d-4, pending/ })
    ).toBeVisible();
    await picture(page, 'sweep-sidebar');
  });

  await test.step('they are compared', async () => {
    await sweep.focus();
    await page.keyboard.press('Shift+F10');
    const saved = page.waitForResponse(
      response =>
        response.url().includes('/api/workspaces') &&
        response.request().method() === 'PUT' &&
        (response.request().postData() ?? '').includes('t9kjob-all-jobs-sweep')
    );
    await page
      .getByRole('menuitem', { name: 'Compare Jobs of the Sweep' })
      .click();
    const results = page.getByRole('grid', { name: 'Jobs of the sweep' });
    await expect(results.getByRole('row')).toHaveCount(5);
    await expect(
      results.getByRole('row', { name: /^wait-\d-1 0\.1 16 best 0\.1 0\.3 3/ })
    ).toBeVisible();
    await picture(page, 'sweep-compare');
    await saved;
    // Galata would wait for the launcher, which is not in front.
    await (page as unknown as JupyterLabPage).reload({ waitForIsReady: false });
    await expect(results.getByRole('row')).toHaveCount(5);
    await expect(mainTab(page, /^Sweep wait/)).toBeVisible();
  });

  await test.step('they fold, and are stopped together', async () => {
    await sweep.focus();
    await page.keyboard.press('ArrowLeft');
    await expect(sweep).toHaveAttribute('aria-expanded', 'false');
    await page.keyboard.press('Shift+F10');
    await page
      .getByRole('menuitem', { name: 'Stop All Jobs of the Sweep…' })
      .click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('4 jobs will be stopped');
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await expect(sweep).toHaveAccessibleName(/4 jobs, 4 stopped/);
  });
});

test('a file with the values of the jobs, and a rule', async ({
  page,
  tmpPath
}) => {
  // Another script than before the reload: Galata's state of the page keeps what the lab removes from it.
  await writeFile(page, `${tmpPath}/rows.py`, WAITS);
  await writeFile(
    page,
    `${tmpPath}/rows.csv`,
    'lr,batch_size\n0.1,16\n0.2,32\n0.4,8\n'
  );
  await writeFile(page, `${tmpPath}/wrong.csv`, 'lr,momentum\n0.1\n');
  await page.filebrowser.openDirectory(tmpPath);
  await page.filebrowser.refresh();
  await page
    .getByRole('listitem', { name: /^Name: rows\.py/ })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Run as Distributed Job' }).click();
  const form = page.getByRole('form', { name: 'Run rows.py' });
  const choose = async (name: string): Promise<void> => {
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('listitem', { name: `Name: ${name}` }).click();
    await dialog.getByRole('button', { name: 'Select' }).click();
  };

  await form.getByRole('button', { name: 'Values from a file…' }).click();
  await choose('wrong.csv');
  await expect(
    form.getByText('Row 2 of wrong.csv has 1 cell, and the header has 2.')
  ).not.toHaveCount(0);
  await picture(page, 'sweep-rows-error');
  await form.getByRole('button', { name: 'Choose another file' }).click();
  await choose('rows.csv');
  const jobs = form.getByRole('table', { name: 'Jobs of the sweep' });
  await expect(jobs.locator('tbody tr')).toHaveCount(3);
  await expect(jobs).toContainText('0.4');

  await form.getByRole('radio', { name: 'Worse than the median' }).click();
  await expect(form.getByText(/^Enter the name of a metric/)).not.toHaveCount(
    0
  );
  await form.getByRole('textbox', { name: 'Metric' }).fill('val_loss');
  await expect(
    form.getByText(/so no job has 3 others to be compared with/)
  ).not.toHaveCount(0);
  await picture(page, 'sweep-rows');
});
