/** The whole way behind a real JupyterHub, and at the base URL that a Kubeflow notebook has. */
import { expect, test } from '@playwright/test';
import type { Locator, Page } from '@playwright/test';
import { execFileSync } from 'child_process';
import { readFileSync, writeFileSync } from 'fs';
import path from 'path';
import { Hub, IS_ROOT } from './helpers/hub';
import { drawCurvesAsSvg } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';

/** Writes numbers and a curve until a file tells it to end. */
const TRAINS = `
import argparse
import itertools
import pathlib
import time

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

parser = argparse.ArgumentParser()
parser.add_argument("--log_dir", default="runs")
args = parser.parse_args()
with open("starts", "a") as starts:
    starts.write("started\\n")
writer = EventFileWriter(args.log_dir)
for number in itertools.count():
    print("number", number, flush=True)
    summary = Summary(value=[Summary.Value(tag="train/loss", simple_value=1 / (1 + number))])
    writer.add_event(Event(step=number, wall_time=time.time(), summary=summary))
    writer.flush()
    if pathlib.Path("enough").exists():
        break
    time.sleep(0.2)
writer.close()
print("done")
`;

const job = (page: Page): Locator => page.locator('.jp-t9k-Job:visible');
const mainTab = (page: Page, name: RegExp): Locator =>
  page.getByRole('main').getByRole('tab', { name });

/** The last number in the log that is in sight. */
async function lastNumber(page: Page): Promise<number> {
  const text = (await job(page).getByRole('log').textContent()) ?? '';
  const numbers = [...text.matchAll(/number (\d+)/g)];
  return Math.max(-1, ...numbers.map(match => Number(match[1])));
}

/** From the right click to lines of the log. */
async function submit(page: Page): Promise<void> {
  await page
    .getByRole('listitem', { name: /^Name: train\.py/ })
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Run as Distributed Job' }).click();
  const form = page.getByRole('form', { name: 'Run train.py' });
  await form.getByRole('checkbox', { name: /torchrun/i }).uncheck();
  // By the keyboard, for a fresh lab's own news may lie over the button.
  await form.getByRole('button', { name: 'Submit' }).press('Enter');
  await job(page).getByRole('tab', { name: 'Logs' }).click();
  await expect.poll(() => lastNumber(page)).toBeGreaterThan(0);
}

/** TensorBoard's page is there, and has drawn a curve. */
async function expectCurve(page: Page): Promise<void> {
  const frame = page.frameLocator('iframe[title="TensorBoard"]');
  const card = frame.locator('scalar-card').filter({ hasText: 'train/loss' });
  // It asks for the points of a curve by POST, which the server has to let pass.
  await expect(card.locator('.series-view path').first()).toHaveAttribute(
    'd',
    /^M.*L/
  );
}

/** The whole way, up to a page that was loaded again. */
async function goTheWay(page: Page): Promise<void> {
  await submit(page);
  await job(page).getByRole('button', { name: 'TensorBoard' }).click();
  await expectCurve(page);
  await page.reload();
  await expectCurve(page);
  await mainTab(page, /^train-1/).click();
  await expect(job(page).locator('.jp-t9k-LogStatus-state')).toHaveText('Live');
}

test.beforeEach(({ page }) => drawCurvesAsSvg(page));

test.describe('behind JupyterHub', () => {
  const hub = new Hub();

  /** Write a file into a user's home. */
  const write = (user: string, name: string, text: string): void => {
    const file = path.join(hub.home(user), name);
    writeFileSync(file, text);
    hub.give(user, file);
  };

  test.beforeAll(async () => {
    await hub.start();
    write('alice', 'train.py', TRAINS);
    write('bob', 'train.py', TRAINS);
  });
  test.afterAll(async () => {
    for (const user of ['alice', 'bob']) {
      write(user, 'enough', ''); // a job outlives its server
    }
    await hub.stop();
  });

  test('the whole way, and a server that the hub stops and starts again', async ({
    page
  }) => {
    await hub.logIn(page, 'alice');
    await goTheWay(page);
    const status = job(page).locator('.jp-t9k-LogStatus-state');

    const before = await lastNumber(page);
    await hub.stopServer('alice');
    await expect(status).toHaveText(/^Not connected/);
    // JupyterLab's own offer; the hub's page gives the new server's cookie, with which this page comes back by itself.
    const popup = page.waitForEvent('popup');
    await page
      .getByRole('dialog', { name: 'Server unavailable or unreachable' })
      .getByRole('button', { name: 'Restart' })
      .click();
    const restarted = await popup;
    await restarted.waitForURL(`${hub.server('alice')}/lab*`, {
      waitUntil: 'domcontentloaded' // a page that is closed while it is being replaced may take minutes
    });
    await restarted.close();
    await expect(status).toHaveText('Live');
    await expect.poll(() => lastNumber(page)).toBeGreaterThan(before);
    write('alice', 'enough', '');
    await expect(job(page).locator('.jp-t9k-JobHeader')).toContainText(
      'Succeeded'
    );
    const starts = readFileSync(path.join(hub.home('alice'), 'starts'), 'utf8');
    expect(starts, 'it ran on').toBe('started\n');
  });

  test('a user sees nothing of another one’s jobs and sockets', async ({
    page
  }) => {
    test.skip(!IS_ROOT, 'root: only root has servers of several Unix users');
    await hub.startServer('alice');
    await hub.logIn(page, 'bob');
    const own = await page.request.get(
      `${hub.server('bob')}/t9kjob/jobs?deleted=true`
    );
    expect((await own.json()).jobs).toEqual([]);
    for (const route of ['jobs', 'tensorboards']) {
      const other = await page.request.get(
        `${hub.server('alice')}/t9kjob/${route}`
      );
      expect(other.status(), route).toBe(403);
    }
    const connects = (user: string): Promise<boolean> =>
      page.evaluate(
        url =>
          new Promise<boolean>(resolve => {
            const socket = new WebSocket(url);
            socket.onopen = () => resolve(true);
            socket.onerror = () => resolve(false);
          }),
        `${hub.server(user).replace('http', 'ws')}/t9kjob/stream`
      );
    expect(await connects('bob')).toBe(true);
    expect(await connects('alice')).toBe(false);
    // Nor on the disk, where she lets others into her home.
    const uid = hub.uid('bob');
    const become = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
    const list = (folder: string): string =>
      execFileSync('setpriv', [...become, 'ls', folder], {
        cwd: hub.home('alice'),
        encoding: 'utf8',
        stdio: 'pipe'
      });
    expect(list('.')).toContain('train.py');
    for (const folder of ['.local/share/jupyter/t9kjob/jobs', 'run/t9kjob']) {
      expect(() => list(folder)).toThrow(/Permission denied/);
    }
  });
});

test('at the base URL of a Kubeflow notebook', async ({ page }) => {
  const lab = new OwnLab('kubeflow', { baseUrl: '/notebook/ns/name/' });
  try {
    writeFileSync(path.join(lab.root, 'train.py'), TRAINS);
    await lab.start();
    await page.goto(`${lab.url}/lab`);
    await goTheWay(page);
  } finally {
    writeFileSync(path.join(lab.root, 'enough'), '');
    await lab.kill();
  }
});
