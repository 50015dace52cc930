/** From a right click to a trained model in a real cluster, on each of its engines. */
import { expect, test } from '@playwright/test';
import type { Locator, Page } from '@playwright/test';
import { copyFileSync, mkdirSync } from 'fs';
import path from 'path';
import type { EngineInfo } from '../../src/api/types';
import { enterCluster } from './helpers/cluster';
import type { IClusterPlace } from './helpers/cluster';
import { Gate } from './helpers/gate';
import { leaveOutUnused } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';

const SCRIPT = path.resolve(__dirname, '../kubernetes/cpu_training.py');

test.skip(!process.env.KUBECONFIG, 'cluster: KUBECONFIG is not set');
test.describe.configure({ mode: 'serial' });

let cluster: IClusterPlace;
let gate: Gate;
let lab: OwnLab;

test.beforeEach(({ context }) => leaveOutUnused(context));

test.beforeAll(async () => {
  cluster = await enterCluster();
  gate = await Gate.before(cluster.kubeconfig);
  gate.open();
  mkdirSync(path.join(cluster.folder, 'work'));
  copyFileSync(SCRIPT, path.join(cluster.folder, 'work/train.py'));
  lab = new OwnLab('cluster', {
    root: cluster.folder,
    env: { KUBECONFIG: gate.kubeconfig },
    traits: {
      kubernetes_volumes: [
        {
          claim: cluster.claim,
          lab_path: cluster.folder,
          mount_path: '/t9k/mnt'
        }
      ],
      kubernetes_owner: 'lin'
    }
  });
  await lab.start();
});

test.afterAll(async () => {
  await lab?.kill();
  gate?.close();
  await cluster?.leave();
});

/** Open a lab with the sidebar and the nodes. */
async function openCapacity(page: Page, { url }: OwnLab): Promise<Locator> {
  await page.goto(`${url}/lab?reset`);
  await page.locator('.jp-Launcher-body').waitFor();
  await page.getByRole('tab', { name: 'Distributed Jobs' }).click();
  const sidebar = page.getByRole('region', {
    name: 'Distributed Jobs',
    exact: true
  });
  // The menu has the item once the page knows its engines.
  await expect(async () => {
    await page.keyboard.press('Escape');
    await sidebar.getByRole('button', { name: 'More' }).click();
    await page
      .getByRole('menuitem', { name: 'Show Cluster Nodes' })
      .click({ timeout: 4000 });
  }).toPass();
  return sidebar;
}

/** The images of the cluster's training runtimes: other tests may have installed Kubeflow Trainer, or not. */
async function runtimeImages(page: Page): Promise<string[]> {
  const answer = await page.request.get(`${lab.url}/t9kjob/engines`);
  const { engines } = (await answer.json()) as { engines: EngineInfo[] };
  const kubeflow = engines.find(({ name }) => name === 'kubeflow');
  return (kubeflow?.cluster?.images ?? []).map(({ image }) => image);
}

/** Right-click the script, and choose where it is to run. */
async function openForm(page: Page, engine: string): Promise<Locator> {
  // The lab asks whether to tell of news, at the place of our buttons.
  await page.addLocatorHandler(
    page.getByRole('button', { name: 'No', exact: true }),
    button => button.click()
  );
  await page.goto(`${lab.url}/lab?reset`);
  await page.getByRole('listitem', { name: /^Name: work/ }).dblclick();
  await page
    .getByRole('listitem', { name: /^Name: train\.py/ })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Run as Distributed Job' }).click();
  const form = page.getByRole('form', { name: 'Run train.py' });
  const radio = form.getByRole('radio', {
    name: `${engine} · ${cluster.namespace}`
  });
  await expect(radio).toBeVisible();
  await radio.click();
  await expect(radio).toBeChecked();
  return form;
}

for (const [engine, kind, isFirst] of [
  ['Kubeflow', 'PyTorchJob', true],
  ['T9k', 'PyTorchTrainingJob', false]
] as const) {
  test(`${engine}: from a right click to a model`, async ({ page }) => {
    const form = await openForm(page, engine);

    await test.step('the form is filled for the cluster', async () => {
      const manifest = form.getByRole('textbox', {
        name: 'Manifest as YAML'
      });
      await expect(form.getByLabel('Entrypoint', { exact: true })).toHaveValue(
        '/t9k/mnt/work/train.py'
      );
      await expect(
        form.getByText(`PVC ${cluster.claim} at /t9k/mnt`)
      ).toBeVisible();
      const image = form.getByRole('combobox', { name: 'Image' });
      const footer = form.getByRole('status').last();
      const [offered] = await runtimeImages(page);
      if (isFirst && offered === undefined) {
        // Outside of a pod nobody can know it; the next time it is that of the last job.
        await footer.getByRole('button', { name: 'Image' }).click();
        await expect(image).toBeFocused();
        await image.fill(cluster.image);
      } else if (isFirst) {
        await form.getByRole('button', { name: /^Where/ }).click();
        await expect(image).toHaveValue(offered);
        await image.fill(cluster.image);
      } else {
        await form.getByRole('button', { name: /^Where/ }).click();
        await expect(image).toHaveValue(cluster.image);
      }
      await form.getByRole('spinbutton', { name: 'Nodes' }).fill('2');
      await form.getByRole('spinbutton', { name: 'Processes' }).fill('1');
      await expect(manifest).toContainText(`kind: ${kind}`);
      await expect(footer).toContainText(
        `2 nodes × 1 process on ${engine}, namespace ${cluster.namespace}`
      );
    });

    await test.step('a dry run asks the cluster', async () => {
      await form.getByRole('button', { name: 'Dry run' }).click();
      await expect(form.getByText('This job can be submitted.')).toBeVisible();
    });

    await test.step('it is submitted, and runs to its end', async () => {
      await form.getByRole('button', { name: 'Submit' }).click();
      const job = page.locator('.jp-t9k-Job:visible');
      await expect(
        job.getByRole('heading', { name: /^train-\d/ })
      ).toBeVisible();
      await expect(job.locator('.jp-t9k-JobHeader')).toContainText(
        'Succeeded at'
      );
      await job.getByRole('tab', { name: 'Logs' }).click();
      const log = job.getByRole('log');
      await expect(log).toContainText('rank 0 of 2');
      await expect(log).toContainText('rank 1 of 2');
      await expect(log).toContainText('trained on 2');
    });
  });
}

test('what the cluster refuses is said at its place, and nothing is created', async ({
  page
}) => {
  const form = await openForm(page, 'T9k');
  const footer = form.getByRole('status').last();

  await test.step('a PVC that is not there', async () => {
    await form.getByRole('button', { name: /^Data/ }).click();
    const claim = form.getByRole('combobox', { name: 'Volume (PVC)' });
    await claim.fill('gone');
    await expect(claim).toHaveAccessibleDescription(/There is no PVC gone/);
    await expect(footer).toContainText('1 error to fix: Volumes');
    await claim.press('ArrowDown'); // the choices that fit: none
    await claim.fill('');
    await claim.press('Escape');
    await claim.fill(cluster.claim);
    await expect(footer).toContainText('on T9k');
  });

  await form.getByRole('button', { name: 'Edit as YAML' }).click();
  const manifest = form.getByRole('textbox', { name: 'Manifest as YAML' });
  await expect(manifest, 'the cursor is put into it').toBeFocused();
  const wrong = form.locator('.cm-line[data-mark="error"]');

  await test.step('a namespace that is not there', async () => {
    await manifest.press('ControlOrMeta+Home'); // only lines near the cursor are drawn
    await form.locator('.cm-line', { hasText: /^ *namespace:/ }).click();
    await manifest.press('End');
    await manifest.press('x');
    await expect(wrong).toContainText(`namespace: ${cluster.namespace}x`);
    await expect(
      form.getByText(`There is no namespace ${cluster.namespace}x.`)
    ).toBeVisible();
    await manifest.press('Backspace');
    await expect(wrong).toHaveCount(0);
  });

  await test.step('a field that the cluster does not know', async () => {
    await form.locator('.cm-line', { hasText: /^ *maxRestarts:/ }).click();
    await manifest.press('End');
    await manifest.pressSequentially('\nmaxRestart: 3');
    await expect(form.locator('.cm-line[data-mark="warning"]')).toContainText(
      'maxRestart: 3'
    );
    await form.getByRole('button', { name: 'Submit' }).click();
    await expect(form.getByRole('alert')).toContainText(
      /unknown field.*maxRestart/
    );
    await expect(wrong).toContainText('maxRestart: 3');
  });
  const { jobs } = await (
    await page.request.get(`${lab.url}/t9kjob/jobs?engine=t9k`)
  ).json();
  expect(jobs.map(({ name }: { name: string }) => name)).toEqual(['train-2']);
});

test('an image that can’t be pulled is said on the job', async ({ page }) => {
  const image = 'test.local/none:1';
  const form = await openForm(page, 'T9k');
  await form.getByRole('button', { name: /^Where/ }).click();
  await form.getByRole('combobox', { name: 'Image' }).fill(image);
  await form.getByRole('button', { name: 'Submit' }).click();
  const job = page.locator('.jp-t9k-Job:visible');
  await job.getByRole('tab', { name: /^Replicas/ }).click();
  const row = job.getByRole('row', { name: /worker-0/ });
  await expect(row).toContainText(/ErrImagePull|ImagePullBackOff/);
  await expect(row).toContainText(image);
  await expect(job.locator('.jp-t9k-JobHeader')).toContainText(image);
  await job.getByRole('tab', { name: 'Logs' }).click();
  await expect(job.getByRole('tabpanel', { name: 'Logs' })).toContainText(
    image
  );
});

test('a cluster that is reached late, by an account that may not see its nodes', async ({
  page
}) => {
  const { namespace } = cluster;
  const door = await Gate.before(cluster.little);
  const home = new OwnLab('little', {
    env: { KUBECONFIG: door.kubeconfig },
    traits: { kubernetes_owner: 'lin' }
  });
  try {
    await home.start();
    const sidebar = await openCapacity(page, home);
    const nodes = page.getByRole('tabpanel', { name: 'Cluster Nodes' });
    const banner = sidebar.getByText(
      /^No connection to the cluster\. The cluster’s state has been unknown since /
    );
    await expect(banner).toBeVisible();
    await expect(nodes).toContainText(
      /nodes and pods are not known: .* reached/
    );

    door.open();
    const strip = sidebar.getByRole('region', {
      name: 'Capacity of the cluster'
    });
    await expect(strip).toContainText(`Quota of ${namespace}`);
    await expect(strip).toContainText('GPUs4 left');
    await expect(strip).toContainText("You don't have permission to see nodes");
    await expect(banner).toBeHidden();
    await expect(nodes).toContainText("You don't have permission to see nodes");
    await expect(nodes).toContainText('Your jobs use nothing.');
    await expect(
      nodes
        .getByRole('table', { name: 'Quotas' })
        .getByRole('row', { name: /requests\.nvidia\.com\/gpu/ })
    ).toContainText('4 of 4');

    const created = await page.request.post(`${home.url}/t9kjob/jobs`, {
      data: {
        engine: 'kubeflow',
        namespace,
        request_id: `holds-${Date.now()}`,
        spec: {
          name: 'holds',
          entrypoint: { kind: 'command', value: 'sleep' },
          args: ['1000'],
          torchrun: null,
          runtime: { image: cluster.image, pull_policy: 'IfNotPresent' },
          replica_specs: [{ resources: { cpu: { request: '200m' } } }]
        }
      }
    });
    expect(created.status(), await created.text()).toBe(201);
    await expect(nodes).toContainText('Used by your jobs · CPU: 0.2');
  } finally {
    await home.kill();
    door.close();
  }
});

test('what is free stays, and says since when it is not known any more', async ({
  page
}) => {
  // One's job that runs there makes the cluster worth its room in the sidebar.
  const sidebar = await openCapacity(page, lab);
  const strip = sidebar.getByRole('region', {
    name: 'Capacity of the cluster'
  });
  const nodes = page.getByRole('tabpanel', { name: 'Cluster Nodes' });
  const ready = nodes.getByRole('gridcell', { name: /^Ready/ }).first();
  await expect(ready).toBeVisible();
  const values = strip.locator('.jp-t9k-Capacity-value');
  await expect(values.first()).toContainText(/\d/);
  const known = await values.allTextContents();

  gate.shut();
  await expect(strip).toContainText(/as of \d\d:\d\d/);
  await expect(
    nodes.getByText(/^Connection to the cluster lost\. State as of \d\d:\d\d/)
  ).toBeVisible();
  await expect(ready).toBeVisible();
  expect(await values.allTextContents()).toEqual(known);

  gate.open();
  await expect(strip).not.toContainText('as of');
  await expect(nodes.getByText(/^Connection to the cluster lost/)).toBeHidden();
  await expect(ready).toBeVisible();
});
