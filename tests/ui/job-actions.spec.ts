/** Actions on a job, and the messages when it fails. */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import path from 'path';
import type { Job } from '../../src/api/types';
import {
  absolute,
  expect,
  jobTab,
  mainTab,
  openSidebar,
  run,
  submit,
  waitForPhase,
  writeFile
} from './helpers/lab';
import { test } from './helpers/samePage';
import { COUNTS, FAILS, GREETS, SAVES } from './helpers/scripts';

/** Submit a script and open its job. */
async function open(
  page: IJupyterLabPageFixture,
  script: string,
  processes: number | null = null,
  args: string[] = [],
  more: object = {}
): Promise<Job> {
  await writeFile(page, 'mnist_ddp/train.py', script);
  const job = await submit(page, 'digits', {
    file: 'mnist_ddp/train.py',
    args,
    processes,
    more
  });
  await run(page, 't9kjob:open-job', { id: job.id });
  await expect(
    jobTab(page).getByRole('heading', { name: 'digits', level: 2 })
  ).toBeVisible();
  return job;
}

test('a failure is told with rank, code and last line, and shown in the log', async ({
  page
}) => {
  await writeFile(page, 'mnist_ddp/train.py', FAILS);
  await submit(page, 'digits', { file: 'mnist_ddp/train.py', processes: 2 });
  const job = jobTab(page);
  const log = job.getByRole('log');
  const error =
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.npz'";

  await test.step('by a notification, as its tab is not in front', async () => {
    const notice = page.getByRole('alert').filter({ hasText: 'digits:' });
    await expect(notice).toContainText('digits: Rank 1 failed');
    await notice.hover(); // so that it stays
    await notice.getByRole('button', { name: 'Open log' }).click();
    await expect(mainTab(page, 'digits')).toHaveAttribute(
      'aria-selected',
      'true'
    );
    await expect(log.getByText(error)).toBeInViewport();
    await expect(
      log.locator('[data-marked]'),
      'the log is short: nothing else says which line is meant'
    ).toContainText('Traceback');
  });

  await job.getByRole('tab', { name: 'Overview' }).click();
  const failure = job.getByRole('region', { name: 'Why it failed' });
  await expect(failure).toContainText('Rank 1');
  await expect(failure).toContainText(error);
  await expect(failure).toContainText('Error (1)');
  await expect(job.locator('.jp-t9k-JobHeader')).toContainText(/Failed at/);
  await expect(job.getByText('Traceback of rank 1')).toBeVisible();
  await expect(
    job.getByRole('button', { name: /train\.py", line 9/ })
  ).toBeVisible();

  await test.step('from the overview', async () => {
    await failure.getByRole('button', { name: 'Show in log' }).click();
    // All of it: the header grows when the overview goes, and takes the height from the log.
    await expect(log.getByText(error)).toBeInViewport({ ratio: 0.9 });
  });

  await test.step('from the header, which says the same on the other tabs', async () => {
    await job.getByRole('tab', { name: 'Replicas' }).click();
    const why = job.locator('.jp-t9k-JobHeader-why');
    await expect(why).toContainText('Rank 1');
    await expect(why).toContainText(error);
    await expect(why).toContainText('Error (1)');
    await why.getByRole('button', { name: 'Show in log' }).click();
    await expect(job.getByRole('tab', { name: 'Logs' })).toHaveAttribute(
      'aria-selected',
      'true'
    );
    await expect(log.getByText(error)).toBeInViewport();
  });

  await test.step('a frame of the traceback opens the file at its line', async () => {
    await log.getByRole('button', { name: /train\.py", line 9/ }).click();
    await expect(mainTab(page, 'train.py')).toBeVisible();
    await expect(page.locator('#jp-main-statusbar')).toContainText('Ln 9');
  });
});

test('a job is run again from its checkpoint', async ({ page }) => {
  const folder = path.dirname(await absolute(page, 'mnist_ddp/train.py'));
  const { id } = await open(
    page,
    SAVES,
    null,
    ['--out', 'runs/digits/epoch-1.pt'],
    { tensorboard: { log_dirs: [`${folder}/runs/digits`] } }
  );
  const job = jobTab(page);
  await waitForPhase(page, id, 'Succeeded');
  await job
    .getByRole('button', { name: /^Run again from this checkpoint: .*epoch-1/ })
    .click();
  const form = page.getByRole('form', { name: 'Run train.py' });
  await expect(form.getByLabel('Name', { exact: true })).toHaveValue(
    'digits-1'
  );
  // The checkpoint is that of the old job; the outputs of the new job go to its own folder.
  await expect(form.getByLabel('--resume', { exact: true })).toHaveValue(
    /\/runs\/digits\/epoch-1\.pt$/
  );
  await expect(form.getByLabel('--out', { exact: true })).toHaveValue(
    'runs/digits-1/epoch-1.pt'
  );
  await form.getByRole('button', { name: 'Submit', exact: true }).click();
  await expect(job.locator('.jp-t9k-JobHeader')).toContainText('Succeeded at');
  await job.getByRole('tab', { name: 'Logs' }).click();
  await expect(job.getByRole('log')).toContainText(
    'resumed from runs/digits/epoch-1.pt'
  );
});

test('a job is paused and resumed', async ({ page }) => {
  const { id } = await open(page, COUNTS);
  const job = jobTab(page);
  await waitForPhase(page, id, 'Running');
  await expect(job.getByRole('progressbar')).toBeVisible();

  await job.getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause digits?' });
  await expect(dialog).toContainText(/It is at: Epoch \d+ of 1.000/);
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await dialog.getByRole('button', { name: 'Pause' }).click();

  const resume = job.getByRole('button', { name: 'Resume' });
  await expect(resume).toBeVisible();
  await expect(job.locator('.jp-t9k-JobHeader')).toContainText('Paused');
  expect((await waitForPhase(page, id, 'Paused')).restarts).toBe(0);

  await resume.click();
  await waitForPhase(page, id, 'Running');
  await expect(job.getByRole('button', { name: 'Pause' })).toBeVisible();
  await job.getByRole('tab', { name: 'Logs' }).click();
  // The new attempt may have written more lines than fit below its beginning.
  await job.getByRole('log').hover();
  await expect(async () => {
    await page.mouse.wheel(0, -200);
    await expect(job.getByRole('separator')).toContainText('Attempt 2', {
      timeout: 500
    });
  }).toPass();
});

test('a job is stopped, run again, cloned and deleted', async ({ page }) => {
  const { id } = await open(page, COUNTS);
  const job = jobTab(page);
  const sidebar = await openSidebar(page);
  await waitForPhase(page, id, 'Running');

  await test.step('stopping asks, and can be taken back', async () => {
    const stop = job.getByRole('button', { name: 'Stop' });
    await stop.click();
    const dialog = page.getByRole('dialog', { name: 'Stop digits?' });
    await expect(
      dialog.getByRole('button', { name: 'Pause instead' })
    ).toBeVisible();
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await stop.click();
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect(job.locator('.jp-t9k-JobHeader')).toContainText('Stopped at');
    await expect(
      sidebar.getByRole('treeitem', { name: /digits, stopped, Stopped by you/ })
    ).toBeVisible();
    await expect(
      page.getByRole('alert').filter({ hasText: 'digits' }),
      'who stopped it knows it'
    ).toHaveCount(0);
  });

  await test.step('running it again makes the next one', async () => {
    await writeFile(page, 'mnist_ddp/train.py', GREETS);
    await job.getByRole('button', { name: 'Run again' }).click();
    await expect(mainTab(page, 'digits-1')).toBeVisible();
    await expect(job.locator('.jp-t9k-JobHeader')).toContainText(
      'Succeeded at'
    );
    await expect(job.getByText(/· from digits$/)).toBeVisible();
    await expect(
      page.locator('.Toastify__toast').filter({ hasText: 'digits-1' }),
      'its tab is in front and says it'
    ).toHaveCount(0);
  });

  await test.step('a clone is a form that is filled in', async () => {
    await job.getByRole('button', { name: 'Clone' }).click();
    const form = page.getByRole('form', { name: 'Run train.py' });
    await expect(form.getByLabel('Name', { exact: true })).toHaveValue(
      'digits-2'
    );
    await expect(
      form.getByRole('checkbox', { name: 'Start the processes with torchrun' })
    ).not.toBeChecked();
    await expect(
      form.getByRole('button', { name: 'Start from digits-1', exact: true })
    ).toBeVisible();
  });

  await test.step('deleting asks, and keeps or removes the record', async () => {
    await mainTab(page, 'digits-1').click();
    await job.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete digits-1?' });
    await expect(dialog).toContainText('The files that it wrote');
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await dialog
      .getByRole('checkbox', { name: 'Delete the logs, too' })
      .check();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(
      job.getByRole('heading', { name: 'This job is gone' })
    ).toBeVisible();
    await expect(
      sidebar.getByRole('treeitem', { name: /^digits-1,/ })
    ).toHaveCount(0);
    await job.getByRole('button', { name: 'Close this tab' }).click();
    await expect(mainTab(page, 'digits-1')).toHaveCount(0);

    await mainTab(page, 'digits').click();
    await job.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog', { name: 'Delete digits?' })
      .getByRole('button', { name: 'Delete', exact: true })
      .click();
    await expect(job.getByText('This job was deleted.')).toBeVisible();
    await job.getByRole('tab', { name: 'Logs' }).click();
    await job.getByRole('log').press('Home');
    await expect(job.getByRole('log')).toContainText('epoch 1/1000');
  });

  await test.step('a deleted one is found again, and removed', async () => {
    const row = sidebar.getByRole('treeitem', { name: /^digits,.* deleted$/ });
    await expect(row).toHaveCount(0);
    await mainTab(page, 'digits').getByTitle('Close digits').click();
    await sidebar.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Show Deleted Jobs' }).click();
    await row.click();
    await expect(job.getByText('This job was deleted.')).toBeVisible();
    await row.click({ button: 'right' });
    const menu = page.getByRole('menu');
    await expect(menu.getByText('Stop…')).toBeHidden();
    await menu.getByText('Remove Record and Logs…').click();
    await page
      .getByRole('dialog', { name: 'Remove digits?' })
      .getByRole('button', { name: 'Remove' })
      .click();
    await expect(row).toHaveCount(0);
    await expect(
      job.getByRole('heading', { name: 'This job is gone' })
    ).toBeVisible();
  });
});
