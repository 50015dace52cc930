/** Copying from a log of which the page holds only a part: all of it, and what is dragged over while scrolling. */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import {
  expect,
  jobTab,
  run,
  submit,
  test,
  waitForPhase,
  writeFile
} from './helpers/lab';

const LINES = 1_000_000;
/** Lines that src/logs/loading/window.ts holds, and one more page. */
const MOST_HELD = 11_000;

/** Worker 0 counts, with less than the 10 MB that are copied; with what worker 1 writes it is more. */
const COUNTS = `
import os
import sys

if os.environ["T9KJOB_REPLICA"] == "worker-0":
    sys.stdout.write("".join(f"{line}\\n" for line in range(${LINES})))
else:
    sys.stdout.write((99 * "x" + "\\n") * 40_000)
`;

/** Lines as they are copied, both ends included. */
function counted(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, line) => from + line).join(
    '\n'
  );
}

async function clipboard(page: IJupyterLabPageFixture): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Copy with the keyboard; returns what then is in the clipboard. */
async function copied(
  page: IJupyterLabPageFixture,
  log: Locator
): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText('nothing yet'));
  await log.press('Control+c');
  await expect.poll(() => clipboard(page)).not.toBe('nothing yet');
  return clipboard(page);
}

interface IRow {
  line: number;
  left: number;
  right: number;
  y: number;
}

/** The rows that are wholly in view. */
async function rowsInView(log: Locator): Promise<IRow[]> {
  return log.evaluate(element => {
    const view = element.getBoundingClientRect();
    const bottom = view.top + element.clientHeight;
    return Array.from(element.querySelectorAll('.jp-t9k-LogRow'))
      .map(row => ({ row: row.getBoundingClientRect(), element: row }))
      .filter(({ row }) => row.top >= view.top && row.bottom <= bottom)
      .map(({ row, element }) => {
        const text = element.querySelector('.jp-t9k-LogRow-text');
        const range = document.createRange();
        range.selectNodeContents(text ?? element);
        const { left, right } = range.getBoundingClientRect();
        const y = (row.top + row.bottom) / 2;
        return { line: Number(text?.textContent), left, right, y };
      });
  });
}

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

test('a log of a million lines is copied, all of it or what was dragged over', async ({
  page
}) => {
  await writeFile(page, 'mnist_ddp/counts.py', COUNTS);
  const { id } = await submit(page, 'counts', {
    file: 'mnist_ddp/counts.py',
    more: { replica_specs: [{ replicas: 2 }] }
  });
  await waitForPhase(page, id, 'Succeeded');
  await run(page, 't9kjob:open-job', { id, tab: 'logs' });
  const job = jobTab(page);
  const log = job.getByRole('log');
  const status = job.locator('.jp-t9k-LogStatus');
  await expect(status).toContainText('Complete');

  await test.step('more than 10 MB are offered as a download, with their size', async () => {
    await log.press('Control+a');
    await log.press('Control+c');
    const notice = job.getByRole('status').filter({ hasText: 'Not copied' });
    await expect(notice).toContainText('10.9 MB');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      notice.getByRole('button', { name: 'Download' }).click()
    ]);
    await download.delete();
    await notice.getByRole('button', { name: 'Close' }).click();
  });

  await job.getByRole('button', { name: 'Rank worker-1' }).click();
  await expect(status).toContainText('6.9 MB');

  await test.step('Ctrl+A and Ctrl+C copy what the filter lets through', async () => {
    await log.press('Control+a');
    // compared here: a million lines of difference help nobody
    expect((await copied(page, log)) === counted(0, LINES - 1)).toBe(true);
    await expect(status).toContainText('Copied 1 000 000 lines');
  });

  await test.step('a drag spans what the wheel and the edge have scrolled through', async () => {
    await log.press('Escape');
    await log.press('Home');
    await expect.poll(async () => (await rowsInView(log))[0]?.line).toBe(0);
    const begin = (await rowsInView(log))[3];
    await page.mouse.move(begin.left, begin.y);
    await page.mouse.down();
    await page.mouse.move(begin.left + 40, begin.y + 60, { steps: 5 });
    // further than the page holds
    await expect(async () => {
      await page.mouse.wheel(0, 20_000);
      expect((await rowsInView(log))[0]?.line).toBeGreaterThan(MOST_HELD);
    }).toPass({ intervals: [50] });
    const turned = (await rowsInView(log))[0].line;
    const view = await log.boundingBox();
    if (!view) {
      throw new Error('the log is not in view');
    }
    await page.mouse.move(begin.left + 40, view.y + view.height + 40);
    await expect
      .poll(async () => (await rowsInView(log))[0]?.line)
      .toBeGreaterThan(turned + 200);
    await page.mouse.move(begin.left + 40, view.y + view.height / 2);
    let end: IRow | undefined;
    await expect(async () => {
      end = (await rowsInView(log))[9];
      await page.mouse.move(end.right + 30, end.y);
      expect((await rowsInView(log))[9]).toEqual(end);
    }).toPass();
    await page.mouse.up();
    expect(await copied(page, log)).toBe(counted(3, end?.line ?? -1));
  });
});
