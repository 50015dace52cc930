/** From a right click to a trained model, as a person goes: real torchrun, real DDP, real TensorBoard. */
import { galata } from '@jupyterlab/galata';
import type { FrameLocator } from '@playwright/test';
import { execFile } from 'child_process';
import { promisify } from 'util';
import {
  absolute,
  copyExample,
  drawCurvesAsSvg,
  expect,
  jobTab,
  mainTab,
  openSidebar,
  readFile
} from './helpers/lab';
import { test } from './helpers/samePage';

/** A scalar of one step, written as PyTorch's SummaryWriter does; to import torch takes longer than all of it. */
const WRITE_SCALAR = `
import sys
import time
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
value = Summary.Value(tag=sys.argv[2], simple_value=1.0)
writer = EventFileWriter(sys.argv[1])
writer.add_event(Event(step=1, wall_time=time.time(), summary=Summary(value=[value])))
writer.close()
`;

test('right click, submit, watch, read, see the loss fall', async ({
  page,
  tmpPath
}) => {
  await drawCurvesAsSvg(page);
  await copyExample(page, 'mnist_ddp/train.py', `${tmpPath}/train.py`);
  await page.filebrowser.refresh();

  const form = page.getByRole('form', { name: 'Run train.py' });
  const python =
    await test.step('the context menu opens a filled form', async () => {
      await page
        .getByRole('listitem', { name: /^Name: train\.py/ })
        .click({ button: 'right' });
      await page
        .getByRole('menuitem', { name: 'Run as Distributed Job' })
        .click();
      await expect(mainTab(page, 'Run train.py')).toBeVisible();
      await expect(form.getByLabel('Name', { exact: true })).toHaveValue(
        'train-1'
      );
      await expect(form.getByLabel('Working directory')).toHaveValue(tmpPath);
      await expect(
        form.getByRole('spinbutton', { name: 'Processes' })
      ).toHaveValue('2');
      await expect(
        form.getByRole('textbox', { name: '--log_dir' })
      ).toHaveValue('runs/train-1');
      const kernel = form.getByLabel('Kernel');
      await expect(kernel.locator('option:checked')).toHaveText(/^Python 3/);
      await expect(kernel).toHaveAccessibleDescription(/torch \d+\.\d+/);
      await expect(
        form.getByRole('button', { name: /^TensorBoard/ })
      ).toContainText(`${tmpPath}/runs/train-1`);
      const command = form.getByRole('group', { name: 'Command' });
      await expect(command).toContainText('-m torch.distributed.run');
      await expect(command).toContainText('--nproc-per-node=2');
      await expect(command).toContainText('--log_dir runs/train-1');
      await expect(form.getByRole('status')).toContainText(
        '2 processes on this machine'
      );
      const description = await kernel.evaluate(
        element =>
          document.getElementById(`${element.id}-caption`)?.textContent ?? ''
      );
      return description.split(' ')[0];
    });

  const job = jobTab(page);
  const header = job.locator('.jp-t9k-JobHeader');
  await test.step('the preview follows a change', async () => {
    const command = form.getByRole('group', { name: 'Command' });
    await form.getByRole('spinbutton', { name: '--seed' }).fill('2');
    await expect(command).toContainText('--seed 2');
    await form.getByRole('button', { name: 'Set --seed back' }).click();
    // Long enough to be watched; the example's 60 cost a minute of the machine.
    await form.getByRole('spinbutton', { name: '--epochs' }).fill('30');
    await expect(command).toContainText('--epochs 30');
  });

  await test.step('submitting opens the job', async () => {
    await form.getByRole('button', { name: 'Submit' }).click();
    await expect(mainTab(page, 'train-1')).toHaveAttribute(
      'aria-selected',
      'true'
    );
    await expect(mainTab(page, 'Run train.py')).toBeHidden();
    await expect(job.getByRole('heading', { name: 'train-1' })).toBeVisible();
  });

  await test.step('it runs, here and in the sidebar', async () => {
    const sidebar = await openSidebar(page);
    const row = sidebar.getByRole('treeitem', { name: /^train-1, running/ });
    await expect(row).toBeVisible();
    const progress = header.getByRole('progressbar');
    await expect(progress).toHaveAttribute(
      'aria-valuetext',
      /^Epoch \d+ of 30/i
    );
    const first = Number(await progress.getAttribute('aria-valuenow'));
    await expect(row.getByRole('progressbar')).toBeVisible();
    await expect(page.locator('#jp-main-statusbar')).toContainText('1 running');
    await expect
      .poll(
        async () => Number(await progress.getAttribute('aria-valuenow')),
        'progress grows without a click'
      )
      .toBeGreaterThan(first);
  });

  const log = job.getByRole('log');
  await test.step('its lines come as they are written', async () => {
    await job.getByRole('tab', { name: 'Logs' }).click();
    const epoch = async () => {
      const text = (await log.textContent()) ?? '';
      const epochs = [...text.matchAll(/epoch (\d+)\/30/g)];
      return Math.max(0, ...epochs.map(match => Number(match[1])));
    };
    await expect.poll(epoch).toBeGreaterThan(0);
    const first = await epoch();
    const later = Math.min(30, first + 1);
    await expect.poll(epoch, 'later epochs come').toBeGreaterThanOrEqual(later);
  });

  await test.step('it succeeds', async () => {
    await expect(header).toContainText(/Succeeded at/);
    await expect(log).toContainText(/test loss: [\d.]+, test accuracy: /);
    const text = (await log.textContent()) ?? '';
    const accuracy = /test accuracy: ([\d.]+)/.exec(text)?.[1];
    expect(Number(accuracy)).toBeGreaterThanOrEqual(0.95);
    await expect(log).toContainText('model saved to runs/train-1/model.pt');
    expect(
      await page.contents.fileExists(`${tmpPath}/runs/train-1/model.pt`)
    ).toBe(true);
  });

  await test.step('both ranks have spoken', async () => {
    await log.press('Home');
    await expect(log).toContainText('rank 0 of 2: gloo on cpu');
    await expect(log).toContainText('rank 1 of 2: gloo on cpu');
  });

  await test.step('TensorBoard shows the loss, and what is written later', async () => {
    await job.getByRole('button', { name: 'TensorBoard' }).click();
    await expect(mainTab(page, 'TB: train-1')).toBeVisible();
    const tag = 'after/opening';
    const frame = page.frameLocator('iframe[title="TensorBoard"]');
    // It draws only the cards in view.
    await frame
      .getByRole('combobox', { name: 'Filter tags (regex)' })
      .fill(`train/loss|${tag}`);
    const curve = card(frame, 'train/loss')
      .locator('.series-view path')
      .first();
    await expect(curve).toHaveAttribute('d', /^M.*L/);
    await expect(async () => {
      const losses = await frame.locator('body').evaluate(async () => {
        const [run] = await (await fetch('data/runs')).json();
        const data = `data/plugin/scalars/scalars?run=${encodeURIComponent(run)}&tag=train%2Floss`;
        return (await (await fetch(data)).json()) as [number, number, number][];
      });
      const steps = new Set(losses.map(([, step]) => step));
      expect(steps.size).toBeGreaterThanOrEqual(2);
      expect(losses[losses.length - 1][2]).toBeLessThan(losses[0][2] / 2);
    }, 'it reads the files bit by bit').toPass();

    await expect(card(frame, tag)).toHaveCount(0);
    const folder = await absolute(page, `${tmpPath}/runs/train-1`);
    await promisify(execFile)(python, ['-c', WRITE_SCALAR, folder, tag]);
    await expect(card(frame, tag)).toBeVisible();
  });
});

test('a notebook is written out as a script, and runs', async ({
  page,
  tmpPath
}) => {
  const notebook = `${tmpPath}/digits.ipynb`;
  await page.contents.uploadContent(
    JSON.stringify(
      galata.Notebook.makeNotebook([
        galata.Notebook.makeCell({ source: '%matplotlib inline\nimport os' }),
        galata.Notebook.makeCell({
          source: 'print("rank", os.environ["RANK"], "is here")\n!ls -l'
        })
      ])
    ),
    'text',
    notebook
  );
  await page.filebrowser.refresh();
  await page
    .getByRole('listitem', { name: /^Name: digits\.ipynb/ })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Run as Distributed Job' }).click();

  const form = page.getByRole('form', { name: 'Run digits.ipynb' });
  await expect(form).toContainText('2 of 2 code cells run');
  await expect(form).toContainText('1 line is left out');
  await expect(form).toContainText(`${tmpPath}/digits.t9kjob.py`);
  await form.getByRole('button', { name: 'Submit' }).click();

  const job = jobTab(page);
  await expect(job.locator('.jp-t9k-JobHeader')).toContainText('Succeeded at');
  await job.getByRole('tab', { name: 'Logs' }).click();
  const log = job.getByRole('log');
  await expect(log).toContainText('rank 0 is here');
  await expect(log).toContainText('rank 1 is here');

  const script = await readFile(page, `${tmpPath}/digits.t9kjob.py`);
  expect(script).toMatch(/^#.*digits\.ipynb/);
  expect(script).toContain('# %matplotlib inline');
  expect(script).toContain("system('ls -l'");

  await page.notebook.openByPath(notebook);
  await expect(
    page
      .locator('.jp-NotebookPanel-toolbar')
      .getByRole('button', { name: 'Run as Distributed Job' })
  ).toBeVisible();
});

/** The card of a scalar in TensorBoard's page. */
function card(frame: FrameLocator, tag: string) {
  return frame.locator('scalar-card').filter({ hasText: tag });
}
