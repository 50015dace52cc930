/** More jobs and replicas than fit into a page: of which it has only those in view. */
import type { Locator } from '@playwright/test';
import type { Replica } from '../../src/api/types';
import { fakeDetail, fakeEnded, fakeJob, fakeProgress } from './helpers/fakes';
import { FakeServer } from './helpers/fakeServer';
import { expect, jobTab, openSidebar, run } from './helpers/lab';
import { enter, test } from './helpers/samePage';

/** Largest number of rows in the document: the visible ones, and as many again. */
const MOST_ROWS = 120;

test.use({ autoGoto: false });

function someReplicas(count: number): Replica[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `worker-${index}`,
    type: 'worker',
    index,
    status: 'Running',
    ready: true,
    node: `node-${index % 8}`,
    pid: 1000 + index,
    ranks: [index],
    processes: 1,
    devices: [],
    restarts: 0,
    started_at: Date.now() / 1000 - 60,
    ended_at: null,
    exit_code: null,
    reason: null,
    pod: null,
    attempts: []
  }));
}

async function scrollTo(list: Locator, part: number): Promise<void> {
  await list.evaluate((element, fraction) => {
    element.scrollTop = element.scrollHeight * fraction;
  }, part);
}

test('two thousand jobs in the sidebar, of which some change', async ({
  page
}) => {
  const server = FakeServer.of(page);
  const running = Array.from({ length: 20 }, (_, index) =>
    fakeJob(`run-${index}`, { created_at: 2e9 - index })
  );
  const ended = Array.from({ length: 1980 }, (_, index) =>
    fakeEnded(`old-${index}`, 60 + index)
  );
  await server.tell({ jobs: [...running, ...ended] });
  await enter(page);
  const sidebar = await openSidebar(page);
  const tree = sidebar.getByRole('tree', { name: 'Jobs' });
  const rows = tree.getByRole('treeitem');
  await expect(rows.filter({ hasText: 'run-0' })).toBeVisible();
  expect(await rows.count()).toBeLessThan(MOST_ROWS);
  await expect(tree.getByRole('treeitem', { name: /^Finished/ })).toContainText(
    '1980'
  );

  const list = sidebar.locator('.jp-t9k-JobList-scroll');
  await scrollTo(list, 0.5);
  await expect(rows.filter({ hasText: /^old-9[5-9]\d/ }).first()).toBeVisible();
  const before = await list.evaluate(element => element.scrollTop);
  for (let step = 1; step <= 5; step++) {
    const progress = fakeProgress(`Epoch ${step} of 10`, step / 10);
    server.push(running.map(job => ({ ...job, progress })));
  }
  await scrollTo(list, 0);
  await expect(rows.filter({ hasText: 'Epoch 5 of 10' }).first()).toBeVisible();
  expect(before).toBeGreaterThan(10_000);
  await scrollTo(list, 1);
  await expect(rows.filter({ hasText: 'old-1979' })).toBeVisible();
  expect(await rows.count()).toBeLessThan(MOST_ROWS);

  const filter = sidebar.getByRole('searchbox', { name: /Filter the jobs/ });
  await filter.fill('old-1234');
  await expect(rows.filter({ hasText: 'old-' })).toHaveCount(1);
});

test('a thousand replicas', async ({ page }) => {
  const job = fakeJob('large', { replicas: 1000, replicas_running: 1000 });
  const detail = { ...fakeDetail(job), replicas: someReplicas(1000) };
  await FakeServer.of(page).tell({ jobs: [job], details: [detail] });
  await enter(page);
  await run(page, 't9kjob:open-job', { id: job.id, tab: 'replicas' });
  const grid = jobTab(page).getByRole('grid', { name: 'Replicas' });
  await expect(grid.getByRole('row', { name: /^worker-0 / })).toBeVisible();
  await expect(grid).toHaveAttribute('aria-rowcount', '1001');
  expect(await grid.getByRole('row').count()).toBeLessThan(MOST_ROWS);

  const list = jobTab(page).locator('.jp-t9k-Replicas');
  await scrollTo(list, 1);
  await expect(
    grid.getByRole('row', { name: /^worker-999 / })
  ).toBeInViewport();
  await expect(
    grid.getByRole('button', { name: 'Replica', exact: true }),
    'the head stays'
  ).toBeInViewport();
  expect(await grid.getByRole('row').count()).toBeLessThan(MOST_ROWS);

  await test.step('with the keys', async () => {
    await grid
      .getByRole('gridcell', { name: 'worker-999', exact: true })
      .focus();
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('ArrowUp');
    }
    await expect(
      grid.getByRole('gridcell', { name: 'worker-939', exact: true })
    ).toBeFocused();
  });

  await test.step('with keys that come faster than rows are drawn', async () => {
    await page.evaluate(() => {
      for (let presses = 0; presses < 100; presses++) {
        document.activeElement?.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true })
        );
      }
    });
    await expect(
      grid.getByRole('gridcell', { name: 'worker-839', exact: true })
    ).toBeFocused();
  });
});
