/** Seed 001's script as a DDP job: its run, a comparison, the data flow, the artifact, and the ways to the job and back. */
import { execFileSync } from 'child_process';
import { readdirSync, rmSync } from 'fs';
import path from 'path';
import { expectAccessible } from './helpers/accessible';
import { expect, jobTab, mainTab, run, test } from './helpers/lab';
import { picture } from './helpers/pictures';

const SCRIPT = path.resolve(__dirname, '../local/seed001.py');

/** Records a second run without PyTorch: it continues the model of the job with another learning rate. */
const TUNE = `
import sys
from jupyterlab_t9kjob import em

model = em.load_artifact(sys.argv[1])
with em.create_run(name="mnist_tuned", hparams={"batch_size": 16, "epochs": 2, "learning_rate": 0.0005}) as run:
    run.mark_input(model)
    for epoch in (1, 2):
        run.log("train", {"loss": 2.2 - 0.1 * epoch}, step=4 * epoch, epoch=epoch)
        run.log("val", {"loss": 2.1 - 0.1 * epoch, "accuracy": 0.3 + 0.2 * epoch}, step=4 * epoch, epoch=epoch)
`;

test('from a job with seed 001 to its run, a comparison, the data flow and the artifact', async ({
  page,
  tmpPath
}, info) => {
  // Jobs record in the lab's own folder.
  const root = path.resolve(
    __dirname,
    `../../build/ui/newest-${info.parallelIndex}/root`
  );
  const records = path.join(root, '.em');
  rmSync(records, { recursive: true, force: true });
  await page.contents.uploadFile(SCRIPT, `${tmpPath}/mnist_em.py`);
  await page.filebrowser.refresh();
  const rows = page.getByRole('grid', { name: 'Runs' }).locator('tr[data-run]');
  const row = (name: string) => rows.filter({ hasText: name });
  const job = jobTab(page);
  const flow = page.locator('.jp-t9k-Flow:visible');

  await test.step('the run of a job appears by itself', async () => {
    await run(page, 't9kjob:open-experiments');
    await expect(mainTab(page, 'Experiments')).toBeVisible();
    await page
      .getByRole('listitem', { name: /^Name: mnist_em\.py/ })
      .click({ button: 'right' });
    await page
      .getByRole('menuitem', { name: 'Run as Distributed Job' })
      .click();
    const form = page.getByRole('form', { name: 'Run mnist_em.py' });
    await expect(
      form.getByRole('spinbutton', { name: 'Processes' })
    ).toHaveValue('2');
    await expect(
      form.getByLabel('Add the recorder to PYTHONPATH')
    ).toBeChecked();
    await form.getByRole('button', { name: 'Submit', exact: true }).click();
    await expect(job).toBeVisible();
    await mainTab(page, 'Experiments').click();
    await expect(row('mnist_torch_distributed')).toContainText('mnist-em-1');
    await expect(row('mnist_torch_distributed')).toContainText('Complete');
  });

  await test.step('it is compared with a second run', async () => {
    const artifacts = path.join(records, 'artifacts');
    const [model] = readdirSync(artifacts);
    const python = path.join(process.env.T9KJOB_UI_ENV ?? '', 'bin/python');
    execFileSync(python, ['-c', TUNE, path.join(artifacts, model)], {
      cwd: root
    });
    await expect(row('mnist_tuned')).toContainText('Complete');
    await expectAccessible(page);
    await picture(page, 'runs-of-jobs');
    await rows.first().locator('td').nth(2).click();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.keyboard.press('c');
    const rate = page.getByRole('row', { name: 'learning_rate 5e-4 2e-3' });
    await expect(rate).toBeVisible();
    await expect(
      page.getByRole('row', { name: /^val\.accuracy/ })
    ).toContainText('best');
    await expectAccessible(page);
    await picture(page, 'runs-comparison');
  });

  await test.step('the run leads to the log of its job, and the job to its run', async () => {
    await mainTab(page, 'Experiments').click();
    await row('mnist_torch_distributed')
      .getByRole('button', { name: 'mnist_torch_distributed', exact: true })
      .click();
    const loss = page.getByRole('slider', { name: 'Reading line of loss' });
    await loss.press('Home');
    await expectAccessible(page);
    await picture(page, 'run-metrics');
    await page.getByRole('button', { name: /^Log at \d+:\d+:\d+$/ }).click();
    await expect(
      job.getByRole('tab', { name: 'Logs', selected: true })
    ).toBeVisible();
    await job.getByRole('tab', { name: 'Overview' }).click();
    await job.getByRole('button', { name: 'Show in Experiments' }).click();
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('mnist-em-1');
  });

  await test.step('its data flow leads to the artifact, and back to the run', async () => {
    await mainTab(page, 'mnist_torch_distributed').click();
    await page.getByRole('tab', { name: 'Data flow' }).click();
    await expect(flow).toContainText('2 runs, 1 artifact');
    await flow.getByRole('button', { name: /^Run mnist_torch/ }).focus();
    await page.keyboard.press('ArrowRight');
    await expect(
      flow.getByRole('button', { name: /^Artifact mnist_torch_saved/ })
    ).toBeFocused();
    await expectAccessible(page);
    await picture(page, 'run-flow');
    await page.keyboard.press('Enter');
    const artifact = page.locator('.jp-t9k-ArtifactView:visible');
    await expect(artifact).toContainText('model_state_dict.pt');
    await expect(artifact).toContainText('mnist_tuned');
    await expectAccessible(page);
    await artifact
      .getByRole('button', { name: 'mnist_torch_distributed' })
      .click();
    await expect(page.locator('.jp-t9k-RunView:visible')).toContainText(
      'Job mnist-em-1'
    );
  });
  rmSync(records, { recursive: true, force: true });
});
