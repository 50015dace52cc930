/** The lab around the jobs: reloads, unsaved files, panels, bars, and the keyboard. */
import type { JupyterLabPage } from '@jupyterlab/galata';
import {
  copyExample,
  expect,
  jobTab,
  mainTab,
  openSidebar,
  readFile,
  run,
  sidebar,
  submit,
  test as testOfLoad,
  waitForPhase,
  writeFile
} from './helpers/lab';
import { test } from './helpers/samePage';
import { COUNTS, GREETS } from './helpers/scripts';

testOfLoad('tabs come back after a reload', async ({ page, tmpPath }) => {
  await copyExample(page, 'mnist_ddp/train.py', `${tmpPath}/train.py`);
  await writeFile(page, `${tmpPath}/count.py`, COUNTS);
  const { id } = await submit(page, 'digits', { file: `${tmpPath}/count.py` });
  await run(page, 't9kjob:open-tensorboard', { path: tmpPath });
  await expect(mainTab(page, /^TB: /)).toBeVisible();
  await run(page, 't9kjob:open-job', { id, tab: 'logs' });
  await expect(jobTab(page).getByRole('log')).toContainText(/epoch \d+\/1000/);
  await run(page, 't9kjob:launch', { path: `${tmpPath}/train.py` });
  const form = page.getByRole('form', { name: 'Run train.py' });
  const saved = page.waitForResponse(
    response =>
      response.url().includes('/api/workspaces') &&
      response.request().method() === 'PUT' &&
      (response.request().postData() ?? '').includes('"7"')
  );
  await form.getByRole('spinbutton', { name: '--epochs' }).fill('7');
  await saved;

  // Galata would wait for the launcher, which is not in front.
  await (page as unknown as JupyterLabPage).reload({ waitForIsReady: false });
  await expect(mainTab(page, 'Run train.py')).toBeVisible();
  await mainTab(page, 'Run train.py').click();
  await expect(
    form.getByRole('spinbutton', { name: '--epochs' }),
    'what was typed is there'
  ).toHaveValue('7');
  await mainTab(page, 'digits').click();
  await expect(
    jobTab(page).getByRole('tab', { name: 'Logs' }),
    'the part of the job that was in front'
  ).toHaveAttribute('aria-selected', 'true');
  await expect(jobTab(page).getByRole('log')).toContainText(/epoch \d+\/1000/);
  await mainTab(page, /^TB: /).click();
  await expect(
    page.getByRole('heading', { name: 'Nothing has been written here yet' })
  ).toBeVisible();
});

testOfLoad(
  'a part that could not be loaded says so in its tab, and is loaded when tried again',
  async ({ page, tmpPath }) => {
    await writeFile(page, `${tmpPath}/train.py`, GREETS);
    const parts = '**/lab/extensions/jupyterlab_t9kjob/static/*.js*';
    await page.route(parts, route => route.abort());
    await run(page, 't9kjob:launch', { path: `${tmpPath}/train.py` });
    const tab = page.locator('.jp-t9k-Deferred:visible');
    await expect(tab.getByRole('alert')).toContainText('could not be loaded');
    await expect(mainTab(page, 'Run train.py')).toBeVisible();
    await page.unroute(parts);
    await tab.getByRole('button', { name: 'Try again' }).click();
    const form = page.getByRole('form', { name: 'Run train.py' });
    await expect(form.getByRole('button', { name: 'Submit' })).toBeVisible();
    await expect(tab.getByRole('alert')).toHaveCount(0);
  }
);

test('unsaved changes are saved after asking', async ({ page, tmpPath }) => {
  const file = `${tmpPath}/train.py`;
  await writeFile(page, file, GREETS);
  await page.filebrowser.open(file);
  const editor = page.locator('.jp-FileEditor .cm-content');
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('# changed');
  await page
    .locator('.jp-FileEditor')
    .locator('..')
    .getByRole('button', { name: 'Run as Distributed Job' })
    .click();

  const dialog = page.getByRole('dialog', { name: 'Save train.py first?' });
  await expect(dialog).toContainText(`${file} has unsaved changes.`);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(mainTab(page, 'Run train.py')).toHaveCount(0);

  await run(page, 't9kjob:launch', { path: file });
  await expect(
    dialog.getByRole('button', { name: 'Save and continue' })
  ).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('form', { name: 'Run train.py' })).toBeVisible();
  expect(await readFile(page, file)).toContain('# changed');
});

test('the status bar counts, and leads to the jobs', async ({
  page,
  tmpPath
}) => {
  const file = `${tmpPath}/count.py`;
  await writeFile(page, file, COUNTS);
  const item = page
    .locator('#jp-main-statusbar')
    .getByRole('button', { name: /1 running/ });
  await expect(item).toHaveCount(0);
  const { id } = await submit(page, 'digits', { file });
  await waitForPhase(page, id, 'Running');
  await item.click();
  const popup = page.locator('.jp-t9k-StatusPopup');
  await expect(popup.getByRole('button', { name: /digits/ })).toContainText(
    /Epoch \d+ of 1.000/
  );
  await popup.getByRole('button', { name: 'Show all jobs' }).click();
  await expect(popup).toHaveCount(0);
  await expect(
    sidebar(page).getByRole('treeitem', { name: /^digits, running/ })
  ).toBeVisible();
});

test('the Running panel lists and stops jobs and TensorBoards', async ({
  page,
  tmpPath
}) => {
  const file = `${tmpPath}/count.py`;
  await writeFile(page, file, COUNTS);
  const { id } = await submit(page, 'digits', { file });
  await run(page, 't9kjob:open-tensorboard', { path: tmpPath });
  await page.sidebar.openTab('jp-running-sessions');
  const panel = page.locator('#jp-running-sessions');
  const jobs = panel.getByRole('region', { name: 'Distributed Jobs Section' });
  const job = jobs.getByText('digits', { exact: true });
  await expect(job).toBeVisible();
  await expect(
    panel
      .getByRole('region', { name: 'TensorBoards Section' })
      .getByText(tmpPath, { exact: true })
  ).toBeVisible();

  await job.click();
  await expect(mainTab(page, 'digits')).toBeVisible();

  await panel
    .getByRole('heading', { name: 'Distributed Jobs' })
    .getByRole('button', { name: 'Stop All' })
    .click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('digits');
  await dialog.getByRole('button', { name: 'Stop All' }).click();
  await waitForPhase(page, id, 'Failed');
  await expect(job).toHaveCount(0);
});

test('a job is launched and watched with the keyboard alone', async ({
  page,
  tmpPath
}) => {
  const file = `${tmpPath}/count.py`;
  await writeFile(page, file, COUNTS);
  await page.filebrowser.open(file);
  await page.locator('.jp-FileEditor .cm-content').focus();

  await page.keyboard.press('Control+Shift+C');
  await expect(page.locator('.lm-CommandPalette-input')).toBeFocused();
  await page.keyboard.type('Run as Distributed Job');
  await expect(
    page.locator('.lm-CommandPalette-item.lm-mod-active')
  ).toContainText('Run as Distributed Job');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Run count.py' });
  const name = form.getByLabel('Name', { exact: true });
  await expect(name).toHaveValue('count-1');

  // Engine first, then the fields; Enter in a field submits nothing.
  const more = form.getByLabel('More arguments');
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press('Tab');
    if (await more.evaluate(element => element === document.activeElement)) {
      break;
    }
  }
  await expect(more).toBeFocused();
  await page.keyboard.type('--verbose');
  await page.keyboard.press('Enter');
  await expect(form).toBeVisible();
  await page.keyboard.press('Control+Enter');
  await expect(
    jobTab(page).getByRole('heading', { name: 'count-1' })
  ).toBeFocused();

  const region = await openSidebar(page);
  await expect(
    region.getByRole('treeitem', { name: /^count-1, running/ })
  ).toBeVisible();
  await region.getByRole('searchbox').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  const row = region.getByRole('treeitem', { name: /^count-1,/ });
  await expect(row).toBeFocused();
  await page.keyboard.press('Shift+F10');
  await expect(page.getByRole('menuitem', { name: 'Stop…' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(row).toBeFocused();
  await page.keyboard.press('Delete');
  const dialog = page.getByRole('dialog', { name: 'Delete count-1?' });
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Delete' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(row).toHaveCount(0);
});

test('a folder is opened in TensorBoard from its context menu, and from the launcher', async ({
  page,
  tmpPath
}) => {
  await page.filebrowser.openDirectory('');
  await page
    .getByRole('listitem', { name: new RegExp(`^Name: ${tmpPath}`) })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Open in TensorBoard' }).click();
  await expect(mainTab(page, `TB: ${tmpPath}`)).toBeVisible();

  await mainTab(page, 'Launcher').click();
  for (const card of ['New Job', 'Jobs', 'TensorBoard']) {
    await expect(
      page.locator('.jp-LauncherCard').getByText(card, { exact: true })
    ).toBeVisible();
  }
});

test('no notification lies over Submit and Dry run', async ({
  page,
  tmpPath
}) => {
  await writeFile(page, `${tmpPath}/train.py`, GREETS);
  await run(page, 't9kjob:launch', { path: `${tmpPath}/train.py` });
  const form = page.getByRole('form', { name: 'Run train.py' });
  const buttons = ['Submit', 'Dry run'].map(name =>
    form.getByRole('button', { name, exact: true })
  );
  await expect(buttons[0]).toBeVisible();
  await page.evaluate(() => {
    for (let count = 0; count < 3; count++) {
      void window.jupyterapp.commands.execute('apputils:notify', {
        message: 'digits-1 failed: rank 3 was killed, out of memory',
        type: 'error',
        options: { autoClose: false }
      });
    }
  });
  await expect(page.locator('.Toastify__toast')).toHaveCount(3);
  const free = async (): Promise<void> => {
    for (const button of buttons) {
      await button.click({ trial: true }); // waits until nothing else would get the click
    }
  };
  await free();
  for (const mode of ['split-right', 'split-bottom', 'split-top']) {
    await page.evaluate(mode => {
      const { shell } = window.jupyterapp;
      const [form, other] = [true, false].map(wanted =>
        [...shell.widgets('main')].find(
          ({ id }) => id.startsWith('t9kjob-launch') === wanted
        )
      );
      if (form && other) {
        shell.add(form, 'main', { mode, ref: other.id } as object);
      }
    }, mode);
    await free();
  }
  for (const width of [900, 600]) {
    await page.setViewportSize({ width, height: 700 });
    await free();
  }
});
