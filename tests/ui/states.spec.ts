/**
 * Each designed state of the tabs: its words and roles, and with PICTURES=1 a picture of it in both themes.
 *
 * What is rare, or cannot be made, is told to the page by a server that is none.
 */
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
  test as testOfLoad,
  waitForPhase,
  writeFile
} from './helpers/lab';
import { inBothThemes, picture } from './helpers/pictures';
import { test } from './helpers/samePage';
import { FAILS, LOSES_NETWORK, SILENT, WRITES_CURVES } from './helpers/scripts';

test.describe('the launch tab', () => {
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

  // The last one: the page does not get its server back.
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

    await setMainWidth(page, 320);
    for (const tab of [
      job.getByRole('tab').last(),
      job.getByRole('tab').first()
    ]) {
      await tab.click();
      await expect(tab).toBeInViewport({ ratio: 1 });
      await expect(
        job.getByRole('button', { name: 'Stop' }),
        'only the bar of tabs scrolls'
      ).toBeInViewport({ ratio: 1 });
    }
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

  testOfLoad.describe('with settings', () => {
    testOfLoad.use({
      mockSettings: {
        'jupyterlab_t9kjob:tensorboard': {
          toolbar: [
            { name: 'restart', disabled: true },
            { name: 'jobs', command: 't9kjob:show-jobs', rank: 75 }
          ]
        }
      }
    });

    testOfLoad(
      'has the items that the settings name',
      async ({ page, tmpPath }) => {
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
      }
    );
  });
});
