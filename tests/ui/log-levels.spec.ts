/** A log by level, the first error of each rank, and the address of what a log shows. */
import {
  expect,
  jobTab,
  run,
  submit,
  test,
  waitForPhase,
  writeFile
} from './helpers/lab';

/** Each replica writes as much that the few errors are in no page that the lab holds. */
const WRITES = `
import os
import sys

name = os.environ["T9KJOB_REPLICA"]
quiet = "".join(f"step {step} with loss: 0.5 of {name}\\n" for step in range(60_000))
write = sys.stdout.write
write(f"2026-11-21 10:39:31,322 - data - WARNING - slow disk of {name}\\n")
write(quiet)
if name == "worker-1":
    write('[rank1]: Traceback (most recent call last):\\n')
    write('[rank1]:   File "/work/data.py", line 42, in __getitem__\\n')
    write('[rank1]:     raw = self.sock.recv(784)\\n')
    write('[rank1]: ConnectionResetError: [Errno 104] Connection reset by peer\\n')
write(quiet)
if name == "worker-0":
    write("E1121 10:39:34.020000 4121 torch/distributed/elastic/api.py:869] failed (exitcode: 1)\\n")
write(quiet)
`;

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

test('errors are found by level and by rank, and an address leads back', async ({
  page
}) => {
  await writeFile(page, 'mnist_ddp/writes.py', WRITES);
  const { id } = await submit(page, 'writes', {
    file: 'mnist_ddp/writes.py',
    more: { replica_specs: [{ replicas: 2 }] }
  });
  await waitForPhase(page, id, 'Succeeded');
  await run(page, 't9kjob:open-job', { id, tab: 'logs' });
  const job = jobTab(page);
  const log = job.getByRole('log');
  const rows = log.locator('.jp-t9k-LogRow');
  const status = job.locator('.jp-t9k-LogStatus');
  await expect(status).toContainText('Complete');

  await test.step('the list of first errors goes to an error', async () => {
    await job.getByRole('button', { name: 'First error of each rank' }).click();
    const list = job.getByRole('region', { name: 'First error of each rank' });
    await expect(list.getByRole('status')).toHaveText('2 ranks');
    const errors = list.getByRole('listitem');
    await expect(errors.filter({ hasText: 'worker-1' })).toContainText(
      'ConnectionResetError: [Errno 104] Connection reset by peer'
    );
    await errors.filter({ hasText: 'worker-0' }).click();
    await expect(rows.filter({ hasText: 'exitcode: 1' })).toBeInViewport();
    await list.getByRole('button', { name: 'Close' }).click();
    await expect(list).toBeHidden();
  });

  const levels = job.getByRole('combobox', { name: 'Levels' });
  await test.step('only errors, with all lines of a traceback', async () => {
    await levels.selectOption({ label: 'Errors' });
    await expect(rows).toHaveCount(5);
    await expect(rows.filter({ hasText: 'self.sock.recv' })).toBeVisible();
    await expect(status).toContainText('5 lines of');
    await levels.selectOption({ label: 'Warnings and errors' });
    await expect(rows).toHaveCount(7);
  });

  await test.step('what is copied is what is shown', async () => {
    await log.press('Control+a');
    await log.press('Control+c');
    await expect(status).toContainText('Copied 7 lines');
  });

  await test.step('an address restores filter, search and line in a new page', async () => {
    await job.getByRole('button', { name: 'Rank worker-0' }).click();
    await expect(rows).toHaveCount(5);
    await job.getByRole('searchbox').fill('errno');
    await expect(job.locator('.jp-t9k-LogSearch-count')).toHaveText('1 of 1');
    await job.getByRole('button', { name: 'More' }).last().click();
    await page
      .getByRole('menuitem', { name: 'Copy Address of This View' })
      .click();
    const address = await page.evaluate(() => navigator.clipboard.readText());
    expect(address).toContain('/lab?');
    const other = await page.context().newPage();
    await other.goto(address);
    const tab = other.locator('.jp-t9k-JobView');
    await expect(tab.getByRole('combobox', { name: 'Levels' })).toHaveValue(
      'warning'
    );
    await expect(tab.locator('.jp-t9k-LogRow')).toHaveCount(5);
    await expect(tab.getByRole('searchbox')).toHaveValue('errno');
    await expect(tab.locator('.jp-t9k-LogSearch-count')).toContainText('1');
    await other.close();
  });
});
