/** A job that hangs: the stacks of its ranks, in groups, and what they use of the machine. */
import { expectAccessible } from './helpers/accessible';
import {
  expect,
  jobTab,
  run,
  setMainWidth,
  submit,
  test,
  writeFile
} from './helpers/lab';
import { picture } from './helpers/pictures';

/** One rank waits for a file, the others for that rank. */
const HANGS = `import os, queue, time

def next_sample():
    while True:
        time.sleep(0.05)

def wait_for_others():
    queue.Queue().get()

def main():
    print("ready", flush=True)
    if os.environ["RANK"] == "1":
        next_sample()
    wait_for_others()

main()
`;

test('the stacks of a job that hangs', async ({ page }) => {
  await writeFile(page, 'mnist_ddp/train.py', HANGS);
  const job = await submit(page, 'hangs', {
    file: 'mnist_ddp/train.py',
    processes: 3
  });
  const tab = jobTab(page);
  await run(page, 't9kjob:open-job', { id: job.id, tab: 'logs' });
  await expect(tab.getByText('ready')).toHaveCount(3);

  await test.step('nothing is taken before the user asks', async () => {
    await tab.getByRole('tab', { name: 'Stacks' }).click();
    await expect(tab.getByText('No stacks taken yet')).toBeVisible();
    await expectAccessible(page);
    await picture(page, 'stacks-none');
    await tab.getByRole('button', { name: 'Take stacks' }).click();
  });

  const odd = tab.getByRole('region', { name: 'Rank 1 is in next_sample' });
  const others = tab.getByRole('region', {
    name: '2 ranks are in wait_for_others'
  });
  await test.step('the odd rank comes first', async () => {
    await expect(odd).toContainText('next_sample');
    await expect(odd).toContainText('time.sleep(0.05)');
    await expect(others).toContainText('Ranks 0, 2 on worker-0');
    await expect(tab.locator('.jp-t9k-StackGroup h3')).toHaveText([
      'Rank 1 is in next_sample',
      '2 ranks are in wait_for_others'
    ]);
    await expect(tab.locator('.jp-t9k-Banner')).toContainText(
      /^2 ranks are in wait_for_others \(train\.py:8\); rank 1 is in next_sample \(train\.py:5\)\./
    );
    await expect(tab.getByText(/3 of 3 ranks at .* with py-spy/)).toBeVisible();
  });

  await test.step('frames of libraries are folded', async () => {
    const fold = others.getByRole('button', {
      name: /frames? in threading\.py: wait/
    });
    await expect(fold).toHaveAttribute('aria-expanded', 'false');
    await fold.click();
    await expect(others.getByText(/^queue\.py:\d+$/)).toBeVisible();
    await fold.click();
    await expectAccessible(page);
    await picture(page, 'stacks');
    await setMainWidth(page, 560);
    await expectAccessible(page);
    await picture(page, 'stacks-narrow');
  });

  await test.step('a frame opens its file at the line', async () => {
    await odd.getByRole('button', { name: 'train.py:5' }).click();
    await expect(page.getByText('Ln 5, Col 1')).toBeVisible();
  });

  await test.step('the use of resources: a chart for each metric, or a table', async () => {
    await run(page, 't9kjob:open-job', { id: job.id, tab: 'resources' });
    await expect(tab.getByText('from the processes of the job')).toBeVisible();
    const memory = tab.getByRole('region', { name: 'Memory', exact: true });
    const chart = memory.getByRole('slider', { name: 'Memory' });
    await expect(chart).toHaveAttribute(
      'aria-valuetext',
      /rank 0 [\d.]+ MiB, rank 1 [\d.]+ MiB, rank 2 [\d.]+ MiB/
    );
    await expect(memory.locator('canvas')).toBeVisible();
    await expectAccessible(page);
    await picture(page, 'resources');

    await chart.focus();
    await page.keyboard.press('Home');
    await expect(
      tab.getByRole('button', { name: 'Log at the reading line' })
    ).toBeVisible();
    await page.keyboard.press('Escape');

    await tab.getByRole('radio', { name: 'Table' }).click();
    const row = tab.getByRole('row', { name: /^Memory rank 1 / });
    await expect(row.getByRole('rowheader')).toHaveText('Memory');
    await expect(row).toContainText('MiB');
    await expectAccessible(page);
    await picture(page, 'resources-table');
  });

  await test.step('the last stacks stay when the job has ended', async () => {
    await run(page, 't9kjob:open-job', { id: job.id, tab: 'stacks' });
    await tab.getByRole('button', { name: 'Stop…' }).last().click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: 'Stop', exact: true })
      .click();
    await expect(tab.getByText('The job does not run.')).toBeVisible();
    await expect(odd).toBeVisible();
    await expect(
      tab.getByRole('button', { name: 'Take stacks again' })
    ).toBeDisabled();
  });
});
