/** Free resources of a fake cluster: in the sidebar, by node, and beside the form's fields. */
import type {
  IJupyterLabPageFixture,
  JupyterLabPage
} from '@jupyterlab/galata';
import { expectAccessible } from './helpers/accessible';
import { fakeCapacity, fakeNodes } from './helpers/capacity';
import { fakeClusterJobs } from './helpers/clusterJobs';
import { clusterEngines, FakeCluster } from './helpers/fakeCluster';
import { FakeServer } from './helpers/fakeServer';
import {
  expect,
  openSidebar,
  run,
  setMainWidth,
  sidebar,
  writeFile
} from './helpers/lab';
import { picture } from './helpers/pictures';
import { enter, test } from './helpers/samePage';
import { SILENT } from './helpers/scripts';

test.use({ autoGoto: false });

/** A lab beside a cluster. */
async function open(
  page: IJupyterLabPageFixture,
  capacity = fakeCapacity(),
  nodes = fakeNodes(1500)
): Promise<FakeServer> {
  const server = FakeServer.of(page);
  await server.tell({
    engines: clusterEngines(),
    jobs: fakeClusterJobs(),
    capacity
  });
  await page.route(/\/t9kjob\/cluster\/nodes/, route =>
    route.fulfill({ json: nodes })
  );
  return server;
}

test('what is free, in the sidebar and on each node', async ({ page }) => {
  await open(page);
  await enter(page);
  const strip = (await openSidebar(page)).getByRole('region', {
    name: 'Capacity of the cluster'
  });
  await expect(strip).toContainText('yours 24 of 32 allowed');
  await expect(strip).toContainText('A100 80 GB6 of 32 free');
  await picture(page, 'capacity-sidebar');
  await page.sidebar.setWidth(220);
  await expect(strip).toContainText('A1006 of 32');
  await picture(page, 'capacity-sidebar-narrow');
  await page.sidebar.setWidth(300);

  await strip.getByRole('button', { name: /GPUs in the cluster/ }).click();
  const grid = page.getByRole('grid', { name: 'Nodes' });
  await expect(grid).toHaveAttribute('aria-rowcount', '1501');
  await expect(
    grid.getByRole('gridcell', { name: 'node-1', exact: true })
  ).toBeFocused();
  expect(await grid.getByRole('row').count()).toBeLessThan(150);
  await expect(page.getByText(/^1.500 nodes · GPUs: /)).toBeVisible();
  await expectAccessible(page);
  await picture(page, 'capacity-nodes');

  await test.step('by keys alone', async () => {
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect(
      grid
        .getByRole('row', { name: /^node-3 / })
        .getByRole('gridcell')
        .nth(1)
    ).toBeFocused();
    for (let row = 0; row < 60; row++) {
      await page.keyboard.press('ArrowDown');
    }
    await expect(
      grid
        .getByRole('row', { name: /^node-63 / })
        .getByRole('gridcell')
        .nth(1)
    ).toBeFocused();
  });

  await test.step('it comes back as it was left', async () => {
    const left = grid.getByRole('row', { name: /^node-63 / });
    await page.activity.activateTab('Launcher');
    await expect(grid).toBeHidden();
    await page.activity.activateTab('Cluster Nodes');
    await expect(left).toBeInViewport();
    const { y } = (await left.boundingBox()) ?? { y: 0 };
    await expect(grid.locator('td:focus')).toHaveText(/^node-\d+$/);
    await page.mouse.move(600, y);
    await page.mouse.wheel(0, 20_000);
    await expect(left).toBeHidden();
    // The row that had the focus is gone: the table can be reached again.
    await expect(grid).toHaveAttribute('tabindex', '0');
    await grid.focus();
    await page.keyboard.press('PageDown');
    await expect(grid.locator('td:focus')).toBeInViewport();
    await page.mouse.wheel(0, -100_000);
    await expect(grid.getByRole('row', { name: /^node-1 / })).toBeInViewport();
  });

  await test.step('a narrow tab has what decides', async () => {
    await setMainWidth(page, 500);
    await expect(
      grid.getByRole('columnheader', { name: 'GPUs free' })
    ).toBeVisible();
    await expect(
      grid.getByRole('columnheader', { name: 'Memory' })
    ).toBeHidden();
    await picture(page, 'capacity-nodes-narrow');
    await page.sidebar.setWidth(300);
  });

  await test.step('filter and order outlive a reload', async () => {
    // The lab saves its workspace a while after it changed.
    const saved = page.waitForResponse(response => {
      const request = response.request();
      const body = request.postData() ?? '';
      return (
        request.method() === 'PUT' &&
        response.url().includes('/api/workspaces') &&
        ['"filter":"a100"', '"sort":"devices"'].every(part =>
          body.includes(part)
        )
      );
    });
    await page
      .getByRole('searchbox', { name: /^Filter the nodes/ })
      .fill('a100');
    await grid.getByRole('button', { name: 'GPUs free' }).click();
    const first = grid.getByRole('row').nth(1);
    await expect(first).toContainText('A100 80 GB0 of 8');
    await saved;
    const lab = page as unknown as JupyterLabPage;
    await lab.reload({ waitForIsReady: false });
    await expect(first).toContainText('A100 80 GB0 of 8');
  });
});

test('quotas, where the nodes may not be seen', async ({ page }) => {
  const limited = 'This account may not see nodes (list, watch nodes).';
  const unknown = { pools: [], amounts: [], nodes: 0, limited };
  await open(
    page,
    { ...fakeCapacity(), ...unknown },
    { ...fakeNodes(0), limited }
  );
  await enter(page);
  const strip = (await openSidebar(page)).getByRole('region', {
    name: 'Capacity of the cluster'
  });
  await expect(strip).toContainText('Quota of demo');
  await expect(strip).toContainText('GPUs8 of 32 left');
  await strip.getByRole('button').click();
  await expect(page.getByRole('table', { name: 'Quotas' })).toContainText(
    '8 of 32'
  );
  await expectAccessible(page);
  await picture(page, 'capacity-quotas');
});

test('what is free, beside the fields of the form', async ({
  page,
  tmpPath
}) => {
  await open(page);
  await new FakeCluster().serve(page);
  await enter(page);
  const file = `${tmpPath}/finetune.py`;
  await writeFile(page, file, SILENT);
  await run(page, 't9kjob:launch', { path: file });
  const form = page.getByRole('form', { name: 'Run finetune.py' });
  const free = form.getByRole('region', { name: 'Free now' });
  await expect(free).toContainText('A100 80 GB6 of 322 of 8');
  await expect(free).toContainText('You may use 8 more');
  const kind = form.getByRole('combobox', { name: 'GPUs' });
  await kind.focus();
  await page.keyboard.press('ArrowDown');
  await form.getByRole('option', { name: /^H100 80 GB/ }).click();
  await expect(kind).toHaveValue('H100 80 GB');
  await expect(free.getByRole('row', { name: /chosen/ })).toContainText('H100');
  await expect(
    form.getByRole('textbox', { name: 'Manifest as YAML' })
  ).toContainText('NVIDIA-H100-80GB-HBM3');
  await expectAccessible(page);
  // Beside the fields where there is room, else below the first of them.
  const nodes = form.getByRole('spinbutton', { name: 'Nodes' });
  const isBeside = async (): Promise<boolean> => {
    const [field, panel] = [
      await nodes.boundingBox(),
      await free.boundingBox()
    ];
    return Math.abs((field?.y ?? 0) - (panel?.y ?? 1e6)) < 20;
  };
  await page.sidebar.close('left');
  await expect.poll(isBeside).toBe(true);
  await picture(page, 'capacity-launch');
  await openSidebar(page);
  await setMainWidth(page, 560);
  await expect.poll(isBeside).toBe(false);
  await expect(sidebar(page)).toBeVisible();
  await picture(page, 'capacity-launch-narrow');
});
