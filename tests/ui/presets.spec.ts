/** Presets and locks: from the administrator's settings to a clone that shows what differs. */
import { expect, test } from '@playwright/test';
import { writeFileSync } from 'fs';
import path from 'path';
import { leaveOutUnused, run } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';
import { picture } from './helpers/pictures';

const WAITS = `
import argparse
import time

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
print(parser.parse_args(), flush=True)
time.sleep(600)
`;

const REASON = 'The machine is cleaned up at night.';

test.beforeEach(({ context }) => leaveOutUnused(context));

test('presets, locks and a clone', async ({ page }) => {
  page.setDefaultTimeout(60_000);
  const lab = new OwnLab('presets', {
    traits: {
      presets: [
        {
          name: 'Debug, no torchrun',
          values: { '/torchrun': null, '/old_field': 1 }
        }
      ],
      locks: [
        {
          field: '/run_policy/active_deadline_seconds',
          value: 3600,
          reason: REASON
        },
        { field: '/total_replicas', maximum: 2, reason: 'One machine.' }
      ]
    }
  });
  try {
    await lab.start();
    writeFileSync(path.join(lab.root, 'wait.py'), WAITS);
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.goto(`${lab.url}/lab?reset`);
    await page.locator('.jp-Launcher-body').waitFor();
    await run(page, 't9kjob:launch', { path: 'wait.py' });
    const form = page.getByRole('form', { name: 'Run wait.py' });
    const start = form.getByRole('button', { name: /^Start from/ });
    const item = form.getByRole('menuitemradio');

    await test.step('a locked field has its value and the reason', async () => {
      await form.getByRole('button', { name: /^Lifecycle/ }).click();
      const deadline = form.getByLabel('Deadline');
      await expect(deadline).toHaveValue('1h');
      await expect(deadline).toHaveAttribute('readonly');
      await expect(deadline).toHaveAccessibleDescription(new RegExp(REASON));
      await form.getByLabel('Nodes').fill('3');
      await expect(form).toContainText(
        'Nodes in total: at most 2 allowed, not 3.'
      );
      await form.getByLabel('Nodes').fill('1');
    });

    await test.step('a preset applies what it can, and is undone', async () => {
      const torchrun = form.getByLabel('Start the processes with torchrun');
      await start.click();
      await picture(page, 'presets-menu');
      await item.filter({ hasText: 'Debug, no torchrun' }).first().click();
      await expect(torchrun).not.toBeChecked();
      await expect(form).toContainText('A job has no field /old_field.');
      await picture(page, 'presets-applied');
      await form.getByRole('button', { name: 'Undo' }).click();
      await expect(torchrun).toBeChecked();
      await start.click();
      await item.filter({ hasText: 'Debug, no torchrun' }).first().click();
    });

    await test.step('the values are saved under a name', async () => {
      await form.getByLabel('--lr', { exact: true }).fill('0.5');
      await start.click();
      await form.getByRole('menuitem', { name: 'Save as preset…' }).click();
      const pane = form.getByRole('dialog', { name: 'Save as preset' });
      await pane.getByLabel('Name').fill('<b>Mine</b>');
      await pane.getByLabel('Options of the script').check();
      await picture(page, 'presets-save');
      await pane.getByRole('button', { name: 'Save' }).click();
      await expect(pane).toHaveCount(0);
      await form.getByRole('button', { name: 'Submit' }).click();
      await page.locator('.jp-t9k-JobHeader').waitFor();
    });

    await test.step('as last time, in two clicks', async () => {
      await run(page, 't9kjob:launch', { path: 'wait.py' });
      await expect(start).toHaveAccessibleName('Start from As last time');
      await start.click();
      await item.filter({ hasText: /^Defaults/ }).click();
      const lr = form.getByLabel('--lr', { exact: true });
      await expect(lr).toHaveValue('0.1');
      await start.click();
      await item.filter({ hasText: '<b>Mine</b>' }).click();
      await expect(lr).toHaveValue('0.5');
      await lr.fill('0.3');
      await start.click();
      await item.filter({ hasText: 'As last time' }).click();
      await expect(lr).toHaveValue('0.5');
    });

    await test.step('a preset is renamed and deleted', async () => {
      await start.click();
      await form.getByRole('menuitem', { name: 'Manage presets…' }).click();
      const pane = form.getByRole('dialog', { name: 'Manage presets' });
      await pane.getByLabel('Name of preset <b>Mine</b>').fill('Ours');
      await page.keyboard.press('Enter');
      await pane.getByRole('button', { name: 'Delete preset Ours' }).click();
      await pane.getByRole('button', { name: 'Delete' }).click();
      await expect(pane).toContainText('You have no presets.');
      await page.keyboard.press('Escape');
      await expect(start).toBeFocused();
    });

    await test.step('a clone shows what differs from its original', async () => {
      await page.getByRole('tab', { name: 'wait-1' }).click();
      await page.getByRole('button', { name: 'Clone' }).click();
      await expect(start).toHaveAccessibleName('Start from wait-1');
      await form.getByLabel('--lr', { exact: true }).fill('0.7');
      await form.getByLabel('Nodes').fill('2');
      await expect(form).toContainText('2 fields differ from wait-1:');
      await expect(start).toHaveAccessibleName('Start from wait-1, changed');
      await picture(page, 'presets-clone');
      await form
        .getByRole('button', { name: 'Restore Nodes of the cloned job' })
        .click();
      await expect(form.getByLabel('Nodes')).toHaveValue('1');
      await form.getByRole('button', { name: 'Reset all' }).click();
      await expect(form).not.toContainText('from wait-1:');
      await page.setViewportSize({ width: 560, height: 900 });
      await start.click();
      await picture(page, 'presets-narrow');
    });
  } finally {
    await lab.kill();
  }
});
