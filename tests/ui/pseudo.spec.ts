/** Every text goes through the translator and has room for longer languages: seen in a language that nobody speaks. */
import { expect, test } from '@playwright/test';
import type { Page } from '@playwright/test';
import { writeFileSync } from 'fs';
import { hostname } from 'os';
import path from 'path';
import { fakeCapacity, fakeNodes } from './helpers/capacity';
import { fakeClusterDetail, fakeClusterJobs } from './helpers/clusterJobs';
import {
  clusterEngines,
  clusterSpec,
  FakeCluster
} from './helpers/fakeCluster';
import { FakeServer } from './helpers/fakeServer';
import { leaveOutUnused, run } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';
import {
  anyOf,
  chooseLanguage,
  dataOf,
  inPseudo,
  pseudoPack,
  shownBy
} from './helpers/pseudo';
import type { IShown } from './helpers/pseudo';
import { FAILS } from './helpers/scripts';

/** Tells of its progress until it is stopped. */
const TRAINS = `
import itertools
import time

for step in itertools.count():
    print(f"Epoch {step} of 100000, loss 0.1", flush=True)
    time.sleep(0.5)
`;

/** A walk through a lab; what it finds wrong is collected. */
class Walk {
  constructor(
    private readonly _page: Page,
    /** Names and words that are nobody's to translate. */
    private readonly _data: RegExp
  ) {}

  /** Problems by the name of the page. */
  readonly found: Record<string, IShown> = {};

  /** Look at a part of the page, once it shows what it waits for. */
  async see(name: string, part: string, shows: RegExp): Promise<void> {
    const panel = this._page
      .locator(part)
      .filter({ visible: true, hasText: shows });
    await panel.first().waitFor();
    const shown = await shownBy(panel.first(), this._data);
    if (shown.missed.length || shown.cut.length) {
      this.found[name] = shown;
    }
  }
}

test.beforeEach(({ context }) => leaveOutUnused(context));

test.describe('in a language that nobody speaks', () => {
  let lab: OwnLab;
  let running = '';

  test.beforeAll(async () => {
    lab = new OwnLab('pseudo', { env: { PYTHONPATH: pseudoPack() } });
    chooseLanguage(lab.settings);
    await lab.start();
  });

  test.afterAll(async ({ request }) => {
    await request.post(`${lab.url}/t9kjob/jobs/${running}/stop`); // it outlives its server
    await lab.kill();
  });

  test('texts of jobs on this machine are translated and fit', async ({
    page,
    request
  }) => {
    const failed = await lab.submit(request, 'fails', FAILS);
    running = await lab.submit(request, 'trains', TRAINS);
    await page.goto(`${lab.url}/lab?reset`);
    await page.locator('.jp-Launcher-body').waitFor();
    const repository = path.resolve(__dirname, '../..');
    const words = [lab.root, `${repository}/.venv/bin/python`, hostname()];
    const walk = new Walk(page, anyOf([...NAMES, ...words, ...STATUSES]));
    await run(page, 'tabsmenu:activate-by-id', { id: 't9kjob-monitor' });
    await walk.see('sidebar', '.jp-t9k-Monitor', /KeyError/);
    for (const [id, shows] of [
      [failed, /KeyError/],
      [running, /\[/]
    ] as const) {
      for (const tab of ['overview', 'replicas', 'logs']) {
        await run(page, 't9kjob:open-job', { id, tab });
        await walk.see(`${tab} of ${id.split(':')[2]}`, '.jp-t9k-Job', shows);
      }
    }
    await run(page, 't9kjob:launch', { path: 'fails.py' });
    await walk.see('form', '.jp-t9k-Launch', /torch\.distributed\.run/);
    expect(walk.found).toEqual({});
  });

  test('texts about a cluster are translated and fit', async ({ page }) => {
    const details = fakeClusterJobs().map(job => fakeClusterDetail(job));
    const state = {
      engines: clusterEngines(),
      jobs: details.flatMap(({ job }) => job ?? []),
      details,
      capacity: fakeCapacity()
    };
    const nodes = fakeNodes(20);
    await new FakeServer(page).tell(inPseudo(state));
    const cluster = new FakeCluster();
    cluster.checks = inPseudo(cluster.checks);
    await cluster.serve(page);
    await page.route(/\/t9kjob\/cluster\/nodes/, route =>
      route.fulfill({ json: inPseudo(nodes) })
    );
    writeFileSync(path.join(lab.root, 'finetune.py'), TRAINS);
    await page.goto(`${lab.url}/lab?reset`);
    await page.locator('.jp-Launcher-body').waitFor();
    const walk = new Walk(
      page,
      anyOf([...dataOf([state, nodes, clusterSpec()]), ...NAMES])
    );
    await run(page, 'tabsmenu:activate-by-id', { id: 't9kjob-monitor' });
    await walk.see('sidebar', '.jp-t9k-Monitor', /gpt2-pretrain/);
    for (const job of state.jobs) {
      for (const tab of ['overview', 'replicas', 'yaml']) {
        await run(page, 't9kjob:open-job', { id: job.id, tab });
        await walk.see(`${tab} of ${job.name}`, '.jp-t9k-Job', /\[/);
      }
    }
    await run(page, 't9kjob:show-nodes');
    await walk.see('nodes', '.jp-t9k-Nodes', /A100/);
    await run(page, 't9kjob:launch', { path: 'finetune.py' });
    await walk.see('form', '.jp-t9k-Launch', /learning_rate/);
    expect(walk.found).toEqual({});
  });
});

/** Names and paths in these tests, units, and names that no language changes. */
const NAMES = [
  ...['fails', 'trains', 'finetune', 'runs', '.py', 'Python 3', 'ipykernel'],
  ...[
    'T9k',
    'Kubeflow Trainer',
    'Kubeflow',
    'TensorBoard',
    'PyTorch',
    'Jupyter',
    'torchrun'
  ],
  ...['GiB', 'MiB', 'GPU', 'CPU', 'YAML', 'A100 80 GB', 'H100 80 GB', 'A100'],
  ...['WANDB_PROJECT', 'worker-0', '/work'],
  ...['passes over the data', 'peak learning rate', '--model_name'],
  ...['meta-llama/Meta-Llama-3-8B', 'num_epochs'],
  ...['learning_rate', 'log_dir', 'TensorBoard events']
];

/** Kubernetes' words for states of replicas, and the error of the script that fails. */
const STATUSES = ['Running', 'Error', "KeyError: 'RANK'"];
