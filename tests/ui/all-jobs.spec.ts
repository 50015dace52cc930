/** The table of all jobs: views, groups, selection, actions on many jobs; the comparison of jobs. */
import { expect, test } from '@playwright/test';
import type { Page } from '@playwright/test';
import type { JobSummary } from '../../src/api/types';
import { expectAccessible } from './helpers/accessible';
import {
  ago,
  fakeEnded,
  fakeEngine,
  fakeJob,
  fakeProgress,
  fakeReason
} from './helpers/fakes';
import { FakeServer } from './helpers/fakeServer';
import { leaveOutUnused, run } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';
import { picture } from './helpers/pictures';

// Where it is afternoon now: jobs of two hours ago are of today. (Etc/GMT-3 is ahead of GMT by three hours.)
const AHEAD = Math.min(15 - new Date().getUTCHours(), 14);
test.use({ timezoneId: `Etc/GMT${AHEAD > 0 ? '-' : '+'}${Math.abs(AHEAD)}` });

const HOUR = 3600;
const gpus = (count: number) => ({ name: 'nvidia.com/gpu', count });

/** Jobs of two people on two engines, with a sweep. */
function someJobs(): JobSummary[] {
  const t9k = (name: string, count: number, more: Partial<JobSummary>) => ({
    ...{ engine: 't9k', namespace: 'demo', owner: 'lin' },
    ...{ id: `t9k:demo:${name}:${name}`, nodes: [`node-${count % 12}`] },
    ...{ devices: gpus(count), log_dirs: [`/t9k/mnt/runs/${name}`] },
    ...more
  });
  const members = [0.1, 0.01, 0.001].map((lr, index) =>
    fakeEnded(`eurosat-lr-${index + 1}`, 20 * HOUR - index, {
      ...t9k(`eurosat-lr-${index + 1}`, 4, {}),
      ...(index === 0 && {
        phase: 'Failed' as const,
        reason: fakeReason('ExitCode', 'Loss became NaN in epoch 2')
      }),
      sweep: {
        ...{ id: 'ab12', name: 'eurosat-lr', number: index + 1, round: 0 },
        ...{ at_a_time: 2, on_failure: 'continue' as const, rule: null },
        values: { '--lr': String(lr) }
      },
      progress: fakeProgress('Epoch 15 of 15', 1, {
        metrics: { 'val/accuracy': 0.9402 + 0.01 * index }
      })
    })
  );
  return [
    fakeJob('vit-b16-in1k', {
      ...t9k('vit-b16-in1k', 8, { devices_held: 8 }),
      created_at: ago(2 * HOUR),
      started_at: ago(2 * HOUR - 60),
      running_since: ago(2 * HOUR - 60),
      progress: fakeProgress('Epoch 32 of 100', 0.32, {
        metrics: { 'val/accuracy': 0.431 }
      }),
      stalled: {
        kind: 'progress',
        since: ago(720),
        finding: '7 ranks wait in all_reduce'
      }
    }),
    fakeJob('whisper-small-zh-2', {
      ...t9k('whisper-small-zh-2', 4, { nodes: [] }),
      phase: 'Pending',
      reason: fakeReason('Unschedulable', 'Needs 4 free A100 on one node'),
      created_at: ago(1080),
      started_at: null,
      running_since: null
    }),
    fakeJob('gpt2-pretrain-owt', {
      ...t9k('gpt2-pretrain-owt', 64, { owner: 'wei', devices_held: 64 }),
      mine: false,
      progress: fakeProgress('Step 18 400 of 100 000', 0.184),
      actions: [],
      refused: {}
    }),
    fakeEnded('mnist-ddp-7', HOUR, {
      nodes: ['lab-0'],
      progress: fakeProgress('Epoch 3 of 3', 1, {
        metrics: { 'val/accuracy': 0.991 }
      })
    }),
    fakeEnded('llama3-8b-sft-2', 2 * HOUR, {
      ...t9k('llama3-8b-sft-2', 8, {}),
      phase: 'Failed',
      reason: fakeReason('OutOfMemory', 'Rank 3 was killed: out of memory')
    }),
    ...members
  ];
}

/** Check what axe and the contrast tell, and keep a picture. */
async function look(page: Page, name: string): Promise<void> {
  await expectAccessible(page, '.jp-t9k-AllJobs, .jp-t9k-CompareTab');
  await picture(page, `all-jobs-${name}`);
}

test.beforeEach(({ context }) => leaveOutUnused(context));

test('the table of all jobs', async ({ page }) => {
  page.setDefaultTimeout(60_000);
  const lab = new OwnLab('all-jobs');
  try {
    await lab.start();
    const server = new FakeServer(page);
    const t9k = fakeEngine({ name: 't9k', label: 'T9k' });
    await server.tell({ jobs: someJobs(), engines: [fakeEngine(), t9k] });
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.goto(`${lab.url}/lab?reset`);
    await page.locator('.jp-LauncherCard', { hasText: 'All Jobs' }).click();
    const grid = page.getByRole('treegrid', { name: 'Jobs' });
    const rows = grid.locator('tr[data-job]');
    const row = (name: string) => rows.filter({ hasText: name });
    const filter = page.getByRole('combobox', { name: 'Filter the jobs' });

    await test.step('problems come first, a sweep is one row of its day', async () => {
      await expect(rows).toHaveCount(8);
      await expect(rows.first()).toContainText('No progress for 12 min');
      await expect(grid.locator('tr[data-sweep]')).toContainText('sweep of 3');
      await expect(grid.locator('tr[data-sweep]')).toContainText('3 × 4');
      await expect(row('eurosat-lr-2')).toContainText('0.01');
      await look(page, 'table');
    });

    await test.step('words and expressions filter; an error leaves the rows', async () => {
      await filter.fill('lin t9k memory');
      await expect(rows).toHaveCount(1);
      await filter.fill('gpus >= 8 and state = failed');
      await expect(rows).toHaveCount(1);
      await filter.fill('gpu > 8');
      await expect(
        page.getByText('No job has “gpu”.', { exact: true })
      ).toBeVisible();
      await expect(rows).toHaveCount(8);
      await page.getByRole('button', { name: 'Use gpus' }).click();
      await expect(rows).toHaveCount(1);
      await filter.press('Escape');
      await filter.press('Escape');
      await expect(rows).toHaveCount(8);
    });

    await test.step('the keyboard selects, and an action names its part', async () => {
      await row('vit-b16-in1k').locator('td').nth(2).click();
      await page.keyboard.press('Space');
      await row('llama3-8b-sft-2').locator('td').nth(2).click();
      await page.keyboard.press('Shift+Space');
      const bar = page.getByRole('group', { name: 'Selected jobs' });
      await expect(bar).toContainText('5 selected');
      await expect(
        bar.getByRole('button', { name: 'Stop 2 of 5…' })
      ).toBeVisible();
      await expect(
        bar.getByRole('button', { name: 'Delete 2 of 5…' })
      ).toBeVisible();
      await look(page, 'selection');
      await bar.getByRole('button', { name: 'Delete 2 of 5…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete 2 jobs?' });
      await expect(dialog).toContainText(
        '3 other selected jobs are left alone'
      );
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await bar.getByRole('button', { name: 'Clear selection' }).click();
    });

    await test.step('views keep filter, order and columns', async () => {
      await page.getByRole('button', { name: 'Most GPU-hours' }).click();
      await expect(rows.first()).toContainText('vit-b16-in1k');
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('dialog').getByLabel('Node').check();
      await page.keyboard.press('Escape');
      await expect(row('llama3-8b-sft-2')).toContainText('node-8');
      await page.getByRole('button', { name: 'Save view…' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('Big');
      const kept = page.waitForResponse(
        response =>
          response.request().method() === 'PUT' &&
          (response.request().postData() ?? '').includes('own:Big')
      );
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await expect(
        page.getByRole('button', { name: /^Big/, pressed: true })
      ).toBeVisible();
      await kept;
      await page.goto(`${lab.url}/lab`);
      await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
      await run(page, 't9kjob:open-all-jobs');
      await expect(
        page.getByRole('button', { name: /^Big/, pressed: true })
      ).toBeVisible();
      await expect(row('llama3-8b-sft-2')).toContainText('node-8');
      await page.getByRole('button', { name: /^All/ }).first().click();
    });

    await test.step('columns hide when the width shrinks', async () => {
      await page.setViewportSize({ width: 700, height: 900 });
      const heads = grid.getByRole('columnheader');
      await expect(heads.filter({ hasText: 'State' })).toBeVisible();
      await expect(heads.filter({ hasText: 'Waited' })).toHaveCount(0);
      await look(page, 'narrow');
      await page.setViewportSize({ width: 1400, height: 900 });
    });

    await test.step('the page of space names what goes and what stays', async () => {
      const kept = (name: string, size: number, removable: boolean) => ({
        ...{ id: `local::${name}:u`, name, engine: 'local' },
        ...{ phase: removable ? 'Succeeded' : 'Running', created_at: ago(900) },
        ...{ ended_at: removable ? ago(60) : null, deleted: false, removable },
        sizes: { record: 4000, logs: size - 4000, samples: 0, stacks: 0 },
        size
      });
      const jobs = [kept('big', 9e6, true), kept('runs', 5e6, false)];
      await page.route(/\/t9kjob\/space/, route =>
        route.fulfill({ json: { jobs, size: 14e6, limit: 20e6 } })
      );
      await run(page, 't9kjob:open-all-jobs', { page: 'space' });
      await expect(page.getByText('Records of 2 jobs: 14 MB')).toBeVisible();
      await expect(page.getByLabel('Select runs')).toBeDisabled();
      await page
        .getByRole('button', { name: 'Select all finished jobs' })
        .click();
      await look(page, 'space');
      await page.getByRole('button', { name: 'Remove 9.0 MB…' }).click();
      const dialog = page.getByRole('dialog');
      await expect(dialog).toContainText('The largest: big (9.0 MB).');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('tab', { name: 'All jobs' }).click();
    });

    await test.step('ten thousand jobs scroll without a long task', async () => {
      const many = Array.from({ length: 10_000 }, (_, index) =>
        fakeEnded(`old-${index}`, 60 * index, { devices: gpus(4) })
      );
      server.push(many);
      await expect(grid).toHaveAttribute('aria-rowcount', /^10\d\d\d$/);
      expect(await rows.count()).toBeLessThan(120);
    });
  } finally {
    await lab.kill();
  }
});
