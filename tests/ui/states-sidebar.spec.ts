/**
 * Each designed state of the sidebar: its words and roles, and with PICTURES=1 a picture of it in both themes.
 *
 * What is rare, or cannot be made, is told to the page by a server that is none.
 */
import {
  fakeDetail,
  fakeEnded,
  fakeEngine,
  fakeJob,
  fakeTensorBoard,
  jobsInAllPhases
} from './helpers/fakes';
import { FakeServer } from './helpers/fakeServer';
import { expect, jobTab, openSidebar, run, test } from './helpers/lab';
import { picture } from './helpers/pictures';

test.use({ autoGoto: false });

test('what it says of jobs, engines and its connection', async ({ page }) => {
  const server = new FakeServer(page);
  await server.tell({});
  await page.goto('?reset');
  const sidebar = await openSidebar(page);

  await test.step('no jobs', async () => {
    await expect(
      sidebar.getByRole('heading', { name: 'No jobs yet' })
    ).toBeVisible();
    await expect(sidebar.getByText('Run as Distributed Job')).toBeVisible();
    await expect(
      sidebar.getByText('This machine: 8 CPUs, no GPU')
    ).toBeVisible();
    await expect(
      sidebar.getByRole('button', { name: 'Choose a script…' })
    ).toBeEnabled();
    await expect(sidebar.getByText('None running.')).toBeVisible();
    await picture(page, 'no-jobs');
  });

  await test.step('no engine', async () => {
    const reason =
      'Jobs on this machine need Linux or macOS, and this is Windows';
    await server.tell({
      engines: [fakeEngine({ available: false, reason, machine: null })]
    });
    await expect(
      sidebar.getByRole('heading', { name: 'Jobs can’t run here' })
    ).toBeVisible();
    await expect(sidebar.getByText(`This machine: ${reason}`)).toBeVisible();
    const newJob = sidebar.getByRole('button', { name: 'New job' });
    await expect(newJob).toBeDisabled();
    await expect(newJob).toHaveAttribute('title', 'Jobs can’t run here.');
    await picture(page, 'no-engine');
  });

  await test.step('an action on its way', async () => {
    await server.tell({
      jobs: [fakeJob('mnist-ddp', { pending_action: 'stopping' })]
    });
    await expect(
      sidebar.getByRole('treeitem', {
        name: 'mnist-ddp, running, Stopping: its processes are ending'
      })
    ).toBeVisible();
  });

  await test.step('jobs in all phases, and a filter that hides them', async () => {
    await server.tell({
      jobs: jobsInAllPhases(),
      tensorboards: [
        fakeTensorBoard('mnist_ddp/runs'),
        fakeTensorBoard('runs/bert-mnli', {
          has_data: false,
          last_data_at: null
        })
      ]
    });
    const tree = sidebar.getByRole('tree', { name: 'Jobs' });
    for (const name of [
      'mnist-ddp-10, pending, Needs 2 GPUs, 1 is free; 1 job is ahead of it',
      /^mnist-ddp-9, running, Epoch 4 of 10\b.* left$/,
      'resnet50-lr0.4, running, 8 processes are running',
      'whisper-small, resuming, 3 of 4 replicas are back',
      'bert-mnli, paused, Paused by you',
      /^mnist-ddp-8, failed, Rank 1 failed: FileNotFoundError/,
      'mnist-ddp-7, succeeded, Ran 4 min 12 s, accuracy 0.991',
      'sd-lora-cats, stopped, Stopped by you after 4 min 12 s',
      'vit-b16, unknown, Not heard of since 10:42'
    ]) {
      await expect(tree.getByRole('treeitem', { name })).toBeVisible();
    }
    await picture(page, 'sidebar');

    await page.sidebar.setWidth(220);
    await expect(
      sidebar.getByPlaceholder('Filter', { exact: true })
    ).toBeVisible();
    await picture(page, 'sidebar-narrow');
    await page.sidebar.setWidth(300);

    const filter = sidebar.getByRole('searchbox', {
      name: /Filter the jobs/
    });
    await filter.fill('resnet101');
    await expect(
      sidebar.getByText('No job matches “resnet101”.')
    ).toBeVisible();
    await expect(tree).toBeHidden();
    await picture(page, 'nothing-found');
    await sidebar.getByRole('button', { name: 'Clear the filter' }).click();
    await expect(filter).toHaveValue('');
    await expect(tree).toBeVisible();
  });

  await test.step('deleted jobs, and runs of one file that is not named in ASCII', async () => {
    const runs = [3, 2].map(number =>
      fakeEnded(`job-${number}`, 3600 * (9 - number), {
        display_name: 'entraînement'
      })
    );
    const gone = [
      fakeEnded('job-1', 40_000, { display_name: 'entraînement' }),
      fakeEnded('mnist-ddp', 90_000)
    ].map(job => ({ ...job, deleted: true, actions: ['rerun', 'remove'] }));
    await server.tell({ jobs: runs });
    await page.route(/\/t9kjob\/jobs\?deleted=true/, route =>
      route.fulfill({ json: { jobs: [...runs, ...gone], total: 4 } })
    );
    await sidebar.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Show Deleted Jobs' }).click();
    for (const name of [
      /^entraînement \(job-3\), succeeded/,
      /^entraînement \(job-2\), succeeded/,
      /^entraînement \(job-1\), succeeded, .*, deleted$/,
      /^mnist-ddp, succeeded, .*, deleted$/
    ]) {
      await expect(sidebar.getByRole('treeitem', { name })).toBeVisible();
    }
    await picture(page, 'deleted');
    await sidebar.getByRole('button', { name: 'More', exact: true }).click();
    await page
      .getByRole('menuitemcheckbox', { name: 'Show Deleted Jobs' })
      .click();
  });

  await test.step('another machine’s job can only be looked at', async () => {
    const job = fakeJob('elsewhere', {
      read_only: 'This job runs on node-7, so it can only be changed there.',
      actions: ['rerun']
    });
    await server.tell({
      jobs: [job],
      details: [fakeDetail(job)]
    });
    await run(page, 't9kjob:open-job', { id: job.id });
    const tab = jobTab(page);
    await expect(tab.getByText(job.read_only ?? '')).toBeVisible();
    await expect(tab.locator('.jp-t9k-JobHeader')).toContainText(
      'another machine'
    );
    const actions = tab.getByRole('toolbar', {
      name: 'Actions of elsewhere'
    });
    await expect(actions.getByRole('button', { name: 'Clone' })).toBeVisible();
    for (const name of ['Stop', 'Pause', 'Delete']) {
      await expect(actions.getByRole('button', { name })).toHaveCount(0);
    }
    await page.activity.closeAll();
  });

  await test.step('disconnected', async () => {
    await server.tell({ jobs: jobsInAllPhases() });
    const row = sidebar.getByRole('treeitem', { name: /^mnist-ddp-9,/ });
    await expect(row).toBeVisible();
    await server.hangUp();
    const banner = sidebar.getByRole('status').filter({ hasText: 'Stale' });
    await expect(banner).toContainText(/Stale since \d\d:\d\d, reconnecting\./);
    await expect(banner).toContainText(/Next try in \d+ s\.|Trying now\./);
    await expect(banner.getByRole('button', { name: 'Try now' })).toBeVisible();
    await expect(sidebar.getByRole('tree')).toContainText(/as of \d\d:\d\d/i);
    await expect(row, 'what was known stays').toBeVisible();
    await picture(page, 'disconnected');
  });
});

test('loading', async ({ page }) => {
  await new FakeServer(page).keepSilent();
  await page.goto('?reset');
  const sidebar = await openSidebar(page);
  await expect(sidebar.getByRole('status')).toContainText(
    'Reading the jobs. This is taking longer than usual.'
  );
  await picture(page, 'loading');
});

test('server part missing', async ({ page }) => {
  await new FakeServer(page).beMissing();
  await page.goto('?reset');
  const sidebar = await openSidebar(page);
  const banner = sidebar.getByRole('alert');
  await expect(banner).toContainText(
    'The server part of Distributed Jobs is not running.'
  );
  await expect(banner).toContainText(
    'jupyter server extension enable jupyterlab_t9kjob'
  );
  await expect(sidebar.getByRole('button', { name: 'New job' })).toBeDisabled();
  await picture(page, 'server-part-missing');
});
