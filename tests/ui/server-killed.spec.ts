/** Open pages are complete again after the server was killed and restarted. */
import { expect, test } from '@playwright/test';
import type { Page } from '@playwright/test';
import { readFileSync, writeFileSync } from 'fs';
import path from 'path';
import { leaveOutUnused, run } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';

/** Says numbers until a file tells it to end, and then how many there were. */
const COUNTS = `
import itertools
import pathlib
import time

for number in itertools.count():
    print("number", number, flush=True)
    if pathlib.Path("enough").exists():
        break
    time.sleep(0.05)
pathlib.Path("count").write_text(str(number))
`;

/** Texts of all lines that the tab in front holds, in their order. */
function heldLines(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    interface IJobTab {
      content: {
        model: { log: { log: { window: { lines: { text: string }[] } } } };
      };
    }
    const lab = window as unknown as {
      jupyterapp: { shell: { currentWidget: IJobTab } };
    };
    const { log } = lab.jupyterapp.shell.currentWidget.content.model.log;
    return log.window.lines.map(line => line.text);
  });
}

test.beforeEach(({ context }) => leaveOutUnused(context));

test('a log that is followed loses no line and has none twice', async ({
  page,
  request
}) => {
  const lab = new OwnLab('killed');
  try {
    await lab.start();
    const id = await lab.submit(request, 'counts', COUNTS);
    await page.goto(`${lab.url}/lab?reset`);
    await page.locator('.jp-Launcher-body').waitFor();
    await run(page, 't9kjob:open-job', { id, tab: 'logs' });
    const job = page.locator('.jp-t9k-Job:visible');
    const status = job.locator('.jp-t9k-LogStatus-state');
    await expect(status).toHaveText('Live');
    let seen = 0;
    const more = async (): Promise<void> => {
      await expect
        .poll(async () => (await heldLines(page)).length)
        .toBeGreaterThan(seen);
      seen = (await heldLines(page)).length;
    };
    await more();

    for (let deaths = 1; deaths <= 2; deaths++) {
      await test.step(`death ${deaths}`, async () => {
        await lab.kill();
        await expect(status).toHaveText(/^Not connected/);
        await expect(job.getByText(/Stale since/)).toBeVisible();
        await lab.start();
        await expect(status).toHaveText('Live');
        await more();
      });
    }

    writeFileSync(path.join(lab.root, 'enough'), '');
    await expect(job.locator('.jp-t9k-JobHeader')).toContainText('Succeeded');
    await expect(status).toHaveText('Complete');
    const lines = await heldLines(page);
    expect(lines.length).toBeLessThan(10_000);
    const first = Number(lines[0].split(' ')[1]);
    expect(lines).toEqual(lines.map((_, index) => `number ${first + index}`));
    expect(first + lines.length - 1).toBe(
      Number(readFileSync(path.join(lab.root, 'count'), 'utf8'))
    );
    await expect(job.getByText(/Stale since/)).toHaveCount(0);
  } finally {
    writeFileSync(path.join(lab.root, 'enough'), ''); // the job outlives its server
    await lab.kill();
  }
});
