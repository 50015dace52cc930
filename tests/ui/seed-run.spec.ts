/** Seed 001's script as jobs of two processes: their runs, the comparison, and the log. See `artifact` for the data flow. */
import { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect, test } from '@playwright/test';
import { copyFileSync } from 'fs';
import path from 'path';
import { expectAccessible } from './helpers/accessible';
import { run } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';

const SCRIPT = path.resolve(__dirname, '../local/seed001.py');

test('from a job with seed 001 to the comparison of runs, and to the log', async ({
  page
}) => {
  test.setTimeout(400_000);
  page.setDefaultTimeout(30_000);
  const lab = new OwnLab('seed-run');
  const theme = async (name: 'Dark' | 'Light'): Promise<void> => {
    await run(page, 'apputils:change-theme', { theme: `JupyterLab ${name}` });
    await expect(page.locator('body')).toHaveAttribute(
      'data-jp-theme-light',
      String(name === 'Light')
    );
    await expect(page.locator('#jupyterlab-splash')).toHaveCount(0);
  };
  const themed = Object.assign(page, {
    theme: {
      setDarkTheme: () => theme('Dark'),
      setLightTheme: () => theme('Light')
    }
  }) as unknown as IJupyterLabPageFixture;
  const picture = async (name: string): Promise<void> => {
    await page.mouse.move(0, 0);
    for (const each of ['Dark', 'Light'] as const) {
      await theme(each);
      const file = `../../build/ui/seed-${name}-${each.toLowerCase()}.png`;
      await page.screenshot({ path: path.resolve(__dirname, file) });
    }
  };
  try {
    await lab.start();
    copyFileSync(SCRIPT, path.join(lab.root, 'mnist_em.py'));
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.goto(`${lab.url}/lab?reset`);
    await page.locator('.jp-Launcher-body').waitFor();
    const mainTab = (name: string) =>
      page.getByRole('main').getByRole('tab', { name, exact: true });
    const rows = page
      .getByRole('grid', { name: 'Runs' })
      .locator('tr[data-run]');
    const job = page.locator('.jp-t9k-Job:visible');

    /** Submit the script from the file browser. */
    const submit = async (name: string): Promise<void> => {
      await page
        .locator('.jp-DirListing-item', { hasText: 'mnist_em.py' })
        .click({ button: 'right' });
      await page
        .getByRole('menuitem', { name: 'Run as Distributed Job' })
        .click();
      const form = page.getByRole('form', { name: 'Run mnist_em.py' });
      await expect(form.getByLabel('Name', { exact: true })).toHaveValue(name);
      await expect(
        form.getByRole('spinbutton', { name: 'Processes' })
      ).toHaveValue('2');
      await expect(
        form.getByLabel('Add the recorder to PYTHONPATH')
      ).toBeChecked();
      await form.getByRole('button', { name: 'Submit', exact: true }).click();
      await expect(mainTab(name)).toBeVisible();
    };

    await test.step('runs of two jobs appear by themselves', async () => {
      await run(page, 't9kjob:open-experiments', {});
      await submit('mnist-em-1');
      await submit('mnist-em-2');
      await mainTab('Experiments').click();
      for (const name of ['mnist-em-1', 'mnist-em-2']) {
        const row = rows.filter({ hasText: name });
        await expect(row).toContainText('Complete', { timeout: 200_000 });
        await expect(row).toContainText('mnist_torch_distributed');
      }
      await expect(rows).toHaveCount(2);
      await expectAccessible(themed);
      await picture('table');
    });

    await test.step('the two runs are compared', async () => {
      await rows.first().locator('td').nth(2).click();
      await page.keyboard.press('Space');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Space');
      await page.keyboard.press('c');
      const accuracy = page.getByRole('row', { name: 'val.accuracy' });
      await expect(accuracy.first()).toBeVisible();
      await expectAccessible(themed);
      await picture('comparison');
    });

    await test.step('a run leads to the log of its job', async () => {
      await mainTab('Experiments').click();
      await rows
        .first()
        .getByRole('button', { name: 'mnist_torch_distributed', exact: true })
        .click();
      const loss = page.getByRole('slider', { name: 'Reading line of loss' });
      await loss.press('Home');
      await expectAccessible(themed);
      await picture('run');
      await page.getByRole('button', { name: /^Log at \d+:\d+:\d+$/ }).click();
      await expect(
        job.getByRole('tab', { name: 'Logs', selected: true })
      ).toBeVisible();
    });
  } finally {
    await lab.kill();
  }
});
