/** An engine of another distribution, from the form to a deleted job: plain processes with logs in memory. */
import { expect, test } from '@playwright/test';
import { writeFileSync } from 'fs';
import path from 'path';
import { leaveOutUnused, run } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';
import { picture } from './helpers/pictures';

const COUNTS = `
import itertools
import time

for number in itertools.count():
    print("number", number, flush=True)
    time.sleep(0.2)
`;

/** Texts that a page shows if it takes a fact for granted that the engine does not have. */
const ODD = /undefined|null|NaN|namespace|image|\bGPU|shared memory|YAML/i;

test.beforeEach(({ context }) => leaveOutUnused(context));

test('a job of an engine of another distribution', async ({ page }) => {
  const lab = new OwnLab('third-party', {
    args: ['--SimpleProcesses.enabled=True']
  });
  try {
    await lab.start();
    writeFileSync(path.join(lab.root, 'counts.py'), COUNTS);
    await page.goto(`${lab.url}/lab?reset`);
    await page.locator('.jp-Launcher-body').waitFor();
    await run(page, 't9kjob:show-jobs');
    await run(page, 't9kjob:launch', { path: 'counts.py' });

    const form = page.getByRole('form', { name: 'Run counts.py' });
    await test.step('the form has the fields that the engine supports', async () => {
      const where = form.getByLabel('Where the job runs');
      await expect(where).toContainText('This machine');
      await where.getByRole('radio', { name: 'Simple processes' }).click();
      const groups = form.locator('.jp-t9k-Launch-group h3');
      await expect(groups).toHaveText([/^What/, /^TensorBoard/]);
      await expect(form.getByLabel('Kernel')).toBeVisible();
      await expect(form).not.toContainText(ODD);
      await expect(form).not.toContainText('torchrun');
      await picture(page, 'third-party-form');
    });

    const job = page.locator('.jp-t9k-Job:visible');
    const header = job.locator('.jp-t9k-JobHeader');
    const row = page.getByRole('treeitem', { name: /^counts-1,/ });
    await test.step('it is submitted, and runs', async () => {
      await form.getByRole('button', { name: 'Submit' }).click();
      await expect(header).toContainText(/Running for .* · Simple processes/);
      await expect(row).toHaveAccessibleName(/^counts-1, running, /);
      await expect(job.getByRole('tab')).toHaveText([
        /^Overview/,
        /^Replicas/,
        /^Logs/
      ]);
      await expect(job.locator('.jp-t9k-Overview')).not.toContainText(ODD);
      const empty = job.locator(
        '.jp-t9k-Overview-spec .jp-t9k-Section:not(:has(dd))'
      );
      await picture(page, 'third-party-overview');
      await expect(empty).toHaveCount(0);
      await job.getByRole('tab', { name: 'Replicas' }).click();
      await expect(job.getByRole('row', { name: /worker-0/ })).toBeVisible();
      await picture(page, 'third-party-replicas');
    });

    await test.step('its lines come from memory, as they are written', async () => {
      await job.getByRole('tab', { name: 'Logs' }).click();
      const log = job.getByRole('log');
      await expect(log).toContainText('number 1');
      await expect(job.locator('.jp-t9k-LogStatus-state')).toHaveText('Live');
      const last = async (): Promise<number> => {
        const text = (await log.textContent()) ?? '';
        const found = [...text.matchAll(/number (\d+)/g)];
        return Math.max(...found.map(match => Number(match[1])));
      };
      const seen = await last();
      await expect.poll(last).toBeGreaterThan(seen);
      await picture(page, 'third-party-log');
    });

    await test.step('it is stopped', async () => {
      await job.getByRole('button', { name: 'Stop' }).click();
      const dialog = page.getByRole('dialog', { name: 'Stop counts-1?' });
      await expect(
        dialog.getByRole('button', { name: 'Pause instead' })
      ).toHaveCount(0);
      await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
      await expect(header).toContainText('Stopped at');
      await expect(row).toHaveAccessibleName(/^counts-1, stopped, Stopped by /);
      await picture(page, 'third-party-stopped');
    });

    await test.step('it is deleted', async () => {
      await job.getByRole('button', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete counts-1?' });
      await dialog.getByRole('checkbox').check();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await expect(
        job.getByRole('heading', { name: 'This job is gone' })
      ).toBeVisible();
      await expect(row).toHaveCount(0);
    });
  } finally {
    await lab.kill();
  }
});
