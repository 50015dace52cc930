/** Roles, names, the order of the focus, and contrast, over all views. */
import { expectAccessible, tabOrder } from './helpers/accessible';
import { measureContrast } from './helpers/contrast';
import { fakeTensorBoard, jobsInAllPhases } from './helpers/fakes';
import { FakeServer } from './helpers/fakeServer';
import {
  absolute,
  copyExample,
  expect,
  jobTab,
  openSidebar,
  run,
  submit,
  waitForPhase,
  writeFile
} from './helpers/lab';
import { enter, test } from './helpers/samePage';
import { FAILS, LOSES_NETWORK, SILENT } from './helpers/scripts';

test.describe('the sidebar', () => {
  test.use({ autoGoto: false });

  test('is a tree with one tab stop', async ({ page }) => {
    await FakeServer.of(page).tell({
      jobs: jobsInAllPhases(),
      tensorboards: [fakeTensorBoard('mnist_ddp/runs')]
    });
    await enter(page);
    const sidebar = await openSidebar(page);
    const tree = sidebar.getByRole('tree', { name: 'Jobs' });
    await expect(tree.getByRole('treeitem')).toHaveCount(11);
    const row = tree.getByRole('treeitem', { name: /^mnist-ddp-9, running/ });
    await expect(row).toHaveAttribute('aria-level', '2');
    await expect(row).toHaveAttribute('aria-setsize', '5');
    await expect(row).toHaveAttribute('aria-posinset', '2');
    await expect(row.getByRole('progressbar')).toHaveAttribute(
      'aria-valuetext',
      /^Epoch 4 of 10\b.* left$/
    );
    await expect(row.getByRole('progressbar')).toHaveAttribute(
      'aria-valuenow',
      '34'
    );

    expect(
      await tabOrder(
        page,
        sidebar,
        sidebar.getByRole('button', { name: 'New job' })
      )
    ).toEqual([
      'New job',
      'More',
      'Filter the jobs by name, phase or reason',
      expect.stringMatching(/^Active/),
      expect.stringMatching(/^TensorBoards/),
      'Open…',
      expect.stringMatching(/^mnist_ddp\/runs/),
      'Restart',
      'Stop'
    ]);

    await test.step('arrows, Home, End and letters move in it', async () => {
      await tree.getByRole('treeitem', { name: /^Active/ }).focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await expect(row).toBeFocused();
      await page.keyboard.press('ArrowRight');
      await expect(
        row.getByRole('button', { name: 'Show the log' })
      ).toBeFocused();
      await page.keyboard.press('Escape');
      await expect(row).toBeFocused();
      await page.keyboard.press('End');
      await expect(
        tree.getByRole('treeitem', { name: /^vit-b16/ })
      ).toBeFocused();
      await page.keyboard.press('b');
      await expect(
        tree.getByRole('treeitem', { name: /^bert-mnli/ })
      ).toBeFocused();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowLeft');
      await expect(
        tree.getByRole('treeitem', { name: /^Active/ })
      ).toHaveAttribute('aria-expanded', 'false');
      await page.keyboard.press('ArrowRight');
    });
    await expectAccessible(page);
  });

  test('first use, lost connection, missing server part', async ({ page }) => {
    const server = FakeServer.of(page);
    await server.tell({});
    await enter(page);
    const sidebar = await openSidebar(page);
    await expect(sidebar.getByRole('heading')).toHaveText('No jobs yet');
    await expectAccessible(page);
    await server.hangUp();
    await expect(sidebar.getByText(/Stale since/)).toBeVisible();
    await expectAccessible(page);
    await server.beMissing(); // the page tries again by itself
    await expect(sidebar.getByRole('alert')).toBeVisible();
    await expectAccessible(page);
  });
});

test('the launch form has a label, help and errors for each field', async ({
  page,
  tmpPath
}) => {
  const file = `${tmpPath}/train.py`;
  await copyExample(page, 'mnist_ddp/train.py', file);
  await run(page, 't9kjob:launch', { path: file });
  const form = page.getByRole('form', { name: 'Run train.py' });
  await expect(
    form.getByText('torch and sklearn are installed in this kernel.')
  ).toBeVisible();
  await expect(
    form.getByRole('radiogroup', { name: 'Where the job runs' })
  ).toBeVisible();
  await expect(form.getByRole('radio', { name: 'This machine' })).toBeChecked();
  await expect(
    form.getByRole('textbox', { name: '--log_dir' })
  ).toHaveAccessibleDescription(/changed, default runs\/mnist/);
  for (const group of ['Lifecycle', 'TensorBoard']) {
    const title = form.getByRole('button', { name: new RegExp(`^${group}`) });
    await expect(title).toHaveAttribute('aria-expanded', 'false');
    await title.click();
    await expect(title).toHaveAttribute('aria-expanded', 'true');
  }

  const name = form.getByLabel('Name', { exact: true });
  await name.fill('Digits 1');
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  await expect(name).toHaveAccessibleDescription(/small letters, digits/);
  await expectAccessible(page);

  const order = await tabOrder(
    page,
    form,
    form.getByRole('radio', { name: 'This machine' })
  );
  const wanted = [
    'This machine',
    'What',
    'Name',
    'Entrypoint',
    'Working directory',
    'Kernel',
    '--epochs',
    'More arguments',
    'Add variable',
    'Size',
    'Processes',
    'Lifecycle',
    'Deadline',
    'TensorBoard',
    'Log directory',
    'Dry run',
    'Submit',
    'Command'
  ];
  const places = wanted.map(control =>
    order.findIndex(reached => reached.startsWith(control))
  );
  expect(
    wanted.filter((_, index) => places[index] < 0),
    `not reached; the order is ${order.join(', ')}`
  ).toEqual([]);
});

test('a job: tabs, progress, grid, log', async ({ page, tmpPath }) => {
  const file = `${tmpPath}/train.py`;
  await writeFile(page, file, LOSES_NETWORK);
  const { id } = await submit(page, 'digits', {
    file,
    processes: 4,
    more: { replica_specs: [{ restart_policy: 'OnFailure' }] }
  });
  await run(page, 't9kjob:open-job', { id });
  const job = jobTab(page);
  await expect(job.getByRole('progressbar')).toHaveAttribute(
    'aria-valuetext',
    /^Epoch 4 of 10/
  );
  await expectAccessible(page);

  const tabs = job.getByRole('tablist', { name: 'Parts of the job' });
  await tabs.getByRole('tab', { name: 'Overview' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(tabs.getByRole('tab', { name: /^Replicas/ })).toBeFocused();
  await expect(job.getByRole('tabpanel', { name: /^Replicas/ })).toBeVisible();
  await expect(job.getByRole('grid')).toHaveAttribute('aria-rowcount', '2');
  await expectAccessible(page); // changes the theme, and may take the focus

  await tabs.getByRole('tab', { name: /^Replicas/ }).press('ArrowRight');
  const log = job.getByRole('log', { name: 'Log of digits' });
  await expect(log).toContainText('epoch 4/10, batch 400/938');
  await expect(log).toHaveAttribute('aria-live', 'off');
  await log.press('Home');
  await job.getByRole('searchbox').fill('loss');
  await expect(job.getByText(/^1 of \d+/)).toBeVisible();
  await expectAccessible(page);
});

test('a failed job, an empty log, a TensorBoard without data', async ({
  page,
  tmpPath
}) => {
  const file = `${tmpPath}/train.py`;
  await writeFile(page, file, FAILS);
  const failed = await submit(page, 'fails', { file, processes: 2 });
  await waitForPhase(page, failed.id, 'Failed');
  await run(page, 't9kjob:open-job', { id: failed.id });
  const job = jobTab(page);
  await expect(
    job.getByRole('region', { name: 'Why it failed' })
  ).toBeVisible();
  await expectAccessible(page);
  const clone = job.getByRole('button', { name: 'Clone' });
  const order = await tabOrder(page, job, clone);
  expect(order, 'every control has a name').not.toContain('');
  const expected = [
    ...['Clone', 'Run again', 'Delete', 'More actions', 'Overview'],
    ...['Open the file', 'Show in log', 'Copy the traceback', 'Open train.py'],
    ...['Copy the whole command', 'Words', 'Download']
  ];
  expect(
    order.filter(name => expected.includes(name)),
    `as it is read; the order is ${order.join(', ')}`
  ).toEqual([
    ...expected.slice(0, 6),
    'Run again', // what to do next
    ...expected.slice(6)
  ]);

  await writeFile(page, file, SILENT);
  const silent = await submit(page, 'silent', {
    file,
    more: {
      tensorboard: { log_dirs: [await absolute(page, `${tmpPath}/runs`)] }
    }
  });
  await run(page, 't9kjob:open-job', { id: silent.id, tab: 'logs' });
  await expect(jobTab(page).getByText(/^No log yet/)).toBeVisible();
  await expectAccessible(page);

  await run(page, 't9kjob:open-tensorboard', { jobId: silent.id });
  await expect(
    page.getByRole('heading', { name: 'The folder does not exist yet' })
  ).toBeVisible();
  await expectAccessible(page);

  await run(page, 't9kjob:stop', { id: silent.id });
  await expect(
    page.getByRole('dialog', { name: 'Stop silent?' })
  ).toBeVisible();
  const { tooLow } = await measureContrast(page);
  expect(tooLow).toEqual([]);
});
