/**
 * Each designed state: its words and roles, and with PICTURES=1 a picture of it in both themes.
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
import {
  absolute,
  copyExample,
  drawCurvesAsSvg,
  expect,
  jobTab,
  mainArea,
  mainTab,
  openSidebar,
  run,
  setMainWidth,
  sidebar,
  submit,
  test,
  waitForPhase,
  writeFile
} from './helpers/lab';
import { inBothThemes, picture } from './helpers/pictures';
import { FAILS, LOSES_NETWORK, SILENT, WRITES_CURVES } from './helpers/scripts';

test.describe('the sidebar', () => {
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
      await expect(
        actions.getByRole('button', { name: 'Clone' })
      ).toBeVisible();
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
      await expect(banner).toContainText(
        /Stale since \d\d:\d\d, reconnecting\./
      );
      await expect(banner).toContainText(/Next try in \d+ s\.|Trying now\./);
      await expect(
        banner.getByRole('button', { name: 'Try now' })
      ).toBeVisible();
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
    await expect(
      sidebar.getByRole('button', { name: 'New job' })
    ).toBeDisabled();
    await picture(page, 'server-part-missing');
  });
});

test.describe('the launch tab', () => {
  test('a refusal is said where one submits, and a missing server part', async ({
    page,
    tmpPath
  }) => {
    const file = `${tmpPath}/train.py`;
    await writeFile(page, file, SILENT);
    const full = 'There is no space left where the jobs are kept.';
    const hint = 'Free some, then submit again.';
    let answer: object = { status: 507, json: { message: full, hint } };
    await page.route(/\/t9kjob\/jobs(\?|$)/, route =>
      route.request().method() === 'POST'
        ? route.fulfill(answer)
        : route.continue()
    );
    await run(page, 't9kjob:launch', { path: file });
    const form = page.getByRole('form', { name: 'Run train.py' });
    const footer = form.getByRole('status').last();
    await expect(footer).toContainText('on this machine');
    const name = form.getByLabel('Name', { exact: true });
    await form.getByRole('button', { name: 'Submit' }).click();
    await expect(footer.getByRole('alert')).toHaveText(`${full} ${hint}`);
    await expect(form, 'what was filled in stays').toBeVisible();

    answer = {
      status: 422,
      json: { message: 'This name is taken.', field: '/spec/name' }
    };
    await form.getByRole('button', { name: 'Submit' }).click();
    await expect(footer).toContainText('1 error to fix: Name');
    await expect(name).toHaveAttribute('aria-invalid', 'true');
    await expect(form.getByText('This name is taken.').first()).toBeVisible();

    await test.step('server part missing', async () => {
      await new FakeServer(page).beMissing();
      await run(page, 't9kjob:launch', { path: `${tmpPath}/other.py` });
      await expect(
        page.getByRole('heading', {
          name: 'The server part of Distributed Jobs is not running.'
        })
      ).toBeVisible();
    });
  });

  test('filled in, with an error, and narrow', async ({ page, tmpPath }) => {
    const file = `${tmpPath}/train.py`;
    await copyExample(page, 'mnist_ddp/train.py', file);
    await page.filebrowser.refresh();
    await run(page, 't9kjob:launch', { path: file });
    const form = page.getByRole('form', { name: 'Run train.py' });
    const footer = form.getByRole('status').last();
    await expect(footer).toContainText('2 processes on this machine');
    await expect(
      form.getByText('torch and sklearn are installed in this kernel.')
    ).toBeVisible();
    await picture(page, 'launch');

    const name = form.getByLabel('Name', { exact: true });
    await name.fill('Digits 1');
    await expect(name).toHaveAttribute('aria-invalid', 'true');
    await expect(footer).toContainText('1 error to fix: Name');
    const submitButton = form.getByRole('button', { name: 'Submit' });
    await expect(submitButton).toHaveAttribute('aria-disabled', 'true');
    await form.getByLabel('Working directory').focus();
    await submitButton.press('Enter');
    await expect(name, 'Submit leads to what is wrong').toBeFocused();
    await picture(page, 'launch-error');

    await name.fill('digits');
    await expect(footer).toContainText('2 processes on this machine');
    await page.sidebar.openTab('filebrowser');
    await setMainWidth(page, 560);
    await expect(
      form.getByRole('button', { name: /^Preview/ })
    ).toHaveAttribute('aria-expanded', 'false');
    await picture(page, 'launch-narrow', { part: mainArea(page) });
  });
});

test.describe('the job tab', () => {
  test('running: overview, replicas, logs, narrow', async ({
    page,
    tmpPath
  }) => {
    const file = `${tmpPath}/train.py`;
    await writeFile(page, file, LOSES_NETWORK);
    const { id } = await submit(page, 'mnist-ddp-9', {
      file,
      processes: 4,
      args: ['--epochs', '10', '--lr', '2e-5'],
      more: {
        replica_specs: [{ restart_policy: 'OnFailure' }],
        tensorboard: {
          log_dirs: [await absolute(page, `${tmpPath}/runs/mnist-ddp-9`)]
        }
      }
    });
    await openSidebar(page);
    await run(page, 't9kjob:open-job', { id });
    const job = jobTab(page);
    await expect(job.getByRole('progressbar')).toHaveAttribute(
      'aria-valuetext',
      /^Epoch 4 of 10, batch 400 of 938/
    );
    await expect(job.getByRole('heading', { name: 'Timeline' })).toBeVisible();
    await picture(page, 'job-overview');

    await job.getByRole('tab', { name: /^Replicas/ }).click();
    const grid = job.getByRole('grid', { name: 'Replicas' });
    await expect(grid.getByRole('row', { name: /^worker-0/ })).toContainText(
      'Running'
    );
    await picture(page, 'job-replicas');

    await job.getByRole('tab', { name: 'Logs' }).click();
    const log = job.getByRole('log');
    await expect(log).toContainText('epoch 4/10, batch 400/938');
    await job.getByRole('searchbox').fill('Traceback');
    await expect(job.getByText(/^1 of \d/)).toBeVisible();
    await expect(
      log.getByText('ConnectionResetError: [Errno')
    ).toBeInViewport();
    await expect(log.getByRole('separator')).toContainText('Attempt 2');
    await picture(page, 'job-logs');

    // The lab hides itself for a moment when the theme changes.
    await log.evaluate(element => {
      document.body.style.display = 'none';
      element.dispatchEvent(new Event('scroll'));
      document.body.style.display = '';
    });
    await inBothThemes(page, async () =>
      expect(log.getByText('ConnectionResetError: [Errno')).toBeInViewport()
    );

    await setMainWidth(page, 480);
    await job.getByRole('tab', { name: 'Overview' }).click();
    await expect(job.getByRole('button', { name: 'Stop' })).toBeVisible();
    await picture(page, 'job-narrow', { part: mainArea(page) });
  });

  test('failed', async ({ page, tmpPath }) => {
    const file = `${tmpPath}/train.py`;
    await writeFile(page, file, FAILS);
    const { id } = await submit(page, 'mnist-ddp-8', { file, processes: 2 });
    await waitForPhase(page, id, 'Failed');
    await openSidebar(page);
    await run(page, 't9kjob:open-job', { id });
    const failure = jobTab(page).getByRole('region', { name: 'Why it failed' });
    await expect(failure).toContainText('Rank 1');
    await picture(page, 'job-failed');
  });

  test('log empty, and a job that is gone', async ({ page, tmpPath }) => {
    const file = `${tmpPath}/train.py`;
    await writeFile(page, file, SILENT);
    const { id } = await submit(page, 'mnist-ddp-9', { file });
    await waitForPhase(page, id, 'Running');
    await run(page, 't9kjob:open-job', { id, tab: 'logs' });
    await expect(
      jobTab(page).getByText(
        'No log yet: its processes run and have written nothing so far. Lines appear here as they are written.'
      )
    ).toBeVisible();
    await picture(page, 'log-empty');

    await test.step('job gone', async () => {
      await run(page, 't9kjob:open-job', {
        id: 'local::mnist-ddp-3:00000000000000000000000000000000'
      });
    });
    await expect(
      jobTab(page).getByRole('heading', { name: 'This job is gone' })
    ).toBeVisible();
    await picture(page, 'job-gone');
    await jobTab(page).getByRole('button', { name: 'Close this tab' }).click();
    await expect(mainTab(page, 'mnist-ddp-3')).toHaveCount(0);
  });
});

test.describe('TensorBoard', () => {
  test('without data, then with', async ({ page, tmpPath }) => {
    await drawCurvesAsSvg(page);
    const file = `${tmpPath}/train.py`;
    const folder = `${tmpPath}/runs/mnist-ddp-9`;
    const more = {
      tensorboard: { log_dirs: [await absolute(page, folder)] }
    };
    await page.contents.createDirectory(folder);
    await writeFile(page, file, SILENT);
    const { id } = await submit(page, 'mnist-ddp-9', { file, more });
    await openSidebar(page);
    await run(page, 't9kjob:open-tensorboard', { jobId: id });
    await expect(
      page.getByRole('heading', { name: 'Nothing has been written here yet' })
    ).toBeVisible();
    await expect(
      page.getByText(/mnist-ddp-9.*The job is running: .* SummaryWriter\./)
    ).toBeVisible();
    await expect(page.getByText('no event files yet')).toBeVisible();
    await picture(page, 'tensorboard-empty');

    await writeFile(page, file, WRITES_CURVES);
    const second = await submit(page, 'mnist-ddp-10', { file, more });
    await waitForPhase(page, second.id, 'Succeeded');
    const frame = page.frameLocator('iframe[title="TensorBoard"]');
    const curve = frame.locator('scalar-card .series-view path').first();
    // A look at the folder, TensorBoard's start, and its own look.
    await expect(curve, 'it opens by itself').toBeVisible();
    await frame.locator('.settings-button').click();
    await picture(page, 'tensorboard', {
      drawn: () => expect(curve).toBeVisible()
    });
  });

  test.describe('with settings', () => {
    test.use({
      mockSettings: {
        'jupyterlab_t9kjob:tensorboard': {
          toolbar: [
            { name: 'restart', disabled: true },
            { name: 'jobs', command: 't9kjob:show-jobs', rank: 75 }
          ]
        }
      }
    });

    test('has the items that the settings name', async ({ page, tmpPath }) => {
      await run(page, 't9kjob:open-tensorboard', { path: tmpPath });
      const toolbar = page.getByRole('toolbar', { name: 'TensorBoard' });
      await expect(
        toolbar.getByRole('button', { name: 'Stop this TensorBoard' })
      ).toBeVisible();
      await expect(
        toolbar.getByRole('button', { name: 'Restart' })
      ).toHaveCount(0);
      await toolbar.getByRole('button', { name: 'Jobs' }).click();
      await expect(sidebar(page)).toBeVisible();
    });
  });

  test('not installed', async ({ page, tmpPath }) => {
    const install = 'python -m pip install tensorboard';
    await page.route(/\/t9kjob\/tensorboards(\?|$)/, route =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 503,
            json: {
              message: 'TensorBoard is not installed where Jupyter runs.',
              code: 'TensorBoardMissing'
            }
          })
        : route.fulfill({
            json: {
              tensorboards: [],
              available: false,
              reason: 'TensorBoard is not installed where Jupyter runs.',
              install
            }
          })
    );
    await run(page, 't9kjob:open-tensorboard', { path: tmpPath });
    await expect(
      page.getByRole('heading', {
        name: 'TensorBoard is not installed where Jupyter runs.'
      })
    ).toBeVisible();
    await expect(page.getByText(install)).toBeVisible();
    await picture(page, 'tensorboard-not-installed');
  });
});
