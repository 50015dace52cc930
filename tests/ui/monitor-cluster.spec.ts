/** Jobs of a cluster in the sidebar and in their tab, without one: what only a cluster has to say. */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import type { JobSummary } from '../../src/api/types';
import { expectAccessible } from './helpers/accessible';
import { fakeClusterDetail, fakeClusterJobs } from './helpers/clusterJobs';
import { clusterEngines } from './helpers/fakeCluster';
import { fakeEnded, fakeJob } from './helpers/fakes';
import { FakeServer } from './helpers/fakeServer';
import { expect, jobTab, openSidebar, run, setMainWidth } from './helpers/lab';
import { picture } from './helpers/pictures';
import { enter, test } from './helpers/samePage';

test.use({ autoGoto: false });

const REFUSAL = 'You may not change jobs in namespace demo.';

/** A lab whose server knows these jobs. */
async function open(
  page: IJupyterLabPageFixture,
  { stale = false, refused = false, more = [] as JobSummary[] } = {}
): Promise<FakeServer> {
  const server = FakeServer.of(page);
  const engines = clusterEngines().map(engine =>
    engine.cluster
      ? {
          ...engine,
          cluster: {
            ...engine.cluster,
            rights: {},
            stale_since: stale ? Date.now() / 1000 - 5 : null,
            stale_reason: stale
              ? 'The API server at kube.example does not answer: no route to host.'
              : null
          }
        }
      : engine
  );
  const details = fakeClusterJobs().map(job =>
    fakeClusterDetail(
      refused
        ? {
            ...job,
            actions: ['rerun', 'delete'],
            refused: { pause: REFUSAL, stop: REFUSAL }
          }
        : job
    )
  );
  await server.tell({
    engines,
    jobs: [...details.flatMap(({ job }) => job ?? []), ...more],
    details
  });
  await enter(page);
  return server;
}

async function openJob(
  page: IJupyterLabPageFixture,
  tab: string
): Promise<Locator> {
  const [job] = fakeClusterJobs();
  await run(page, 't9kjob:open-job', { id: job.id, tab });
  return jobTab(page);
}

test('jobs of others and of other namespaces', async ({ page }) => {
  await open(page);
  const sidebar = await openSidebar(page);
  const tree = sidebar.getByRole('tree', { name: 'Jobs' });
  await expect(
    tree.getByRole('treeitem', { name: /^gpt2-pretrain/ })
  ).toBeVisible();
  await expect(tree.getByText('whisper-zh')).toHaveCount(0);
  const mine = sidebar.getByRole('checkbox', { name: /Mine/ });
  await expect(mine).toBeChecked();
  await picture(page, 'cluster-sidebar-mine');
  await mine.uncheck();
  await expect(
    tree.getByRole('treeitem', { name: /^whisper-zh, .*, ann, T9k, team-b$/ })
  ).toBeVisible();
  await expectAccessible(page);
  await picture(page, 'cluster-sidebar');
  await page.sidebar.setWidth(220);
  await picture(page, 'cluster-sidebar-narrow');
  await page.reload();
  await expect(mine).not.toBeChecked();
  await mine.check(); // as the tests after this one expect it
});

test('a cluster that is lost, and one that is asked again', async ({
  page
}) => {
  await open(page, { stale: true });
  let asked = 0;
  await page.route(/\/t9kjob\/engines/, route => {
    asked += route.request().method() === 'POST' ? 1 : 0;
    return route.fulfill({ json: { engines: [] } });
  });
  const sidebar = await openSidebar(page);
  const banner = sidebar.getByRole('status').filter({ hasText: 'Connection' });
  await expect(banner).toContainText(
    /Connection to the cluster lost\. State as of \d\d:\d\d\. The API server/
  );
  await expect(sidebar.getByRole('button', { name: 'New job' })).toBeEnabled();
  await banner.getByRole('button', { name: 'Try now' }).click();
  await expect.poll(() => asked).toBe(1);
  await sidebar.getByRole('button', { name: 'More', exact: true }).click();
  await page
    .getByRole('menuitem', { name: 'Refresh Engines and Permissions' })
    .click();
  await expect.poll(() => asked).toBe(2);
  const tab = await openJob(page, 'overview');
  await expect(tab.getByText(/^Connection to the cluster lost/)).toBeVisible();
  await picture(page, 'cluster-stale');
});

test('while a cluster is lost all else goes on', async ({ page }) => {
  const local = fakeJob('mnist');
  const server = await open(page, { stale: true, more: [local] });
  const sidebar = await openSidebar(page);
  const banner = sidebar.getByRole('status').filter({ hasText: 'Connection' });
  await expect(banner).toContainText(/State as of \d\d:\d\d\./);
  await expect(
    sidebar.getByRole('treeitem', { name: /^mnist, running/ })
  ).toBeVisible();
  server.push([{ ...local, ...fakeEnded('mnist', 0) }]);
  await expect(
    sidebar.getByRole('treeitem', { name: /^mnist, succeeded/ })
  ).toBeVisible();
  await expect(
    sidebar.getByRole('treeitem', { name: /^gpt2-pretrain, / })
  ).toBeVisible();
  await expect(banner).toBeVisible();
});

test('what a job is, and what may not be done to it', async ({ page }) => {
  await open(page, { refused: true });
  const tab = await openJob(page, 'overview');
  await expect(tab.getByText(/T9k, namespace demo/)).toBeVisible();
  const stop = tab.getByRole('button', { name: 'Stop' });
  await expect(stop).toHaveAttribute('aria-disabled', 'true');
  await expect(stop).toHaveAttribute('title', REFUSAL);
  await expect(tab.getByRole('link', { name: 'TensorBoard' })).toHaveAttribute(
    'href',
    /\/t9k\/tensorboards\/projects\/demo\/name\/tb\/$/
  );
  await expect(tab.getByText('PVC t9k-mnt, folder lin')).toBeVisible();
  await expectAccessible(page);
  await picture(page, 'cluster-overview');
  await tab.getByRole('radio', { name: 'Events' }).click();
  await expect(
    tab.getByText('Pod gpt2-pretrain-worker-2').first()
  ).toBeVisible();
  await expect(tab.getByText(/^4× since \d\d:\d\d$/)).toBeVisible();
  await picture(page, 'cluster-events');
  await setMainWidth(page, 560);
  await picture(page, 'cluster-overview-narrow');
});

test('replicas in kubectl’s words, and what their pods really are', async ({
  page
}) => {
  await open(page);
  const tab = await openJob(page, 'replicas');
  const grid = tab.getByRole('grid', { name: 'Replicas' });
  const row = grid.getByRole('row', { name: /worker-2.*ImagePullBackOff/ });
  await expect(row).toContainText('10.244.1.9');
  await expect(row).toContainText('There is no image');
  await picture(page, 'cluster-replicas');
  // With keys alone: into the grid, down to the row, and open it.
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(
    row.getByRole('button', { name: 'worker-2', exact: true })
  ).toBeFocused();
  await page.keyboard.press('Enter');
  const detail = grid.locator('[data-detail="worker-2"]');
  await expect(detail).toContainText('/t9k/mnt PVC t9k-mnt, folder lin');
  await expect(detail).toContainText('failed to resolve reference');
  await row.getByRole('gridcell').nth(1).click();
  await expect(detail).toHaveCount(0);
  await row.getByRole('gridcell').nth(1).click();
  await expectAccessible(page);
  await picture(page, 'cluster-replica-open');
  await setMainWidth(page, 560);
  await picture(page, 'cluster-replicas-narrow');
});

test('the manifest as submitted and as it is now', async ({ page }) => {
  await open(page);
  const submitted =
    'apiVersion: batch.tensorstack.dev/v1beta1\nkind: PyTorchTrainingJob\n' +
    'metadata:\n  name: gpt2-pretrain\nspec:\n  runMode:\n    pause:\n' +
    '      enabled: false\n  replicaSpecs:\n  - type: worker\n    replicas: 3\n';
  const current =
    submitted.replace('enabled: false', 'enabled: true') +
    'status:\n  phase: Paused\n';
  await page.route(/\/t9kjob\/jobs\/[^/]+\/manifest/, route =>
    route.fulfill({
      json: {
        submitted: {},
        current: { metadata: { resourceVersion: '8841207' } },
        submitted_text: submitted,
        current_text: current
      }
    })
  );
  const tab = await openJob(page, 'yaml');
  const now = tab.getByRole('region', { name: 'As it is now' });
  await expect(now).toContainText('live, resource version 8841207');
  await expect(now.locator('[data-mark]')).toHaveText(/enabled: true/);
  await expect(tab.getByText('1 line differs')).toBeVisible();
  await expect(now).not.toContainText('phase: Paused');
  await picture(page, 'cluster-yaml');
  await tab
    .getByRole('checkbox', { name: 'Hide status and managed fields' })
    .uncheck();
  await expect(now).toContainText('phase: Paused');
  await tab.getByRole('radio', { name: 'As submitted' }).click();
  await expect(now).toHaveCount(0);
  await tab.getByRole('radio', { name: 'Side by side' }).click();
  await now.getByRole('button', { name: 'Copy: As it is now' }).click();
  await expectAccessible(page);
  await setMainWidth(page, 560);
  await picture(page, 'cluster-yaml-narrow');
});
