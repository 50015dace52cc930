/** A terminal in a local job that runs in debug mode: opened, used, ended, and restored after a reload. */
import { expectAccessible } from './helpers/accessible';
import { galata } from '@jupyterlab/galata';
import { expect, jobTab, run, submit, test, writeFile } from './helpers/lab';
import { picture } from './helpers/pictures';

/** Torchrun starts the ranks in this time, in ms, also on a slow machine. */
const STARTED = 180_000;

// The terminal is drawn on a canvas; for screen readers it has its text in the document.
test.use({
  mockSettings: {
    ...galata.DEFAULT_SETTINGS,
    '@jupyterlab/apputils-extension:themes': {},
    '@jupyterlab/terminal-extension:plugin': { screenReaderMode: true }
  }
});

test('a terminal in a job', async ({ page }) => {
  test.slow();
  await writeFile(page, 'mnist_ddp/train.py', 'print("it", "trains")\n');
  const job = await submit(page, 'look-inside', {
    file: 'mnist_ddp/train.py',
    processes: 1,
    more: { debug: {} }
  });
  await run(page, 't9kjob:open-job', { id: job.id, tab: 'replicas' });
  const button = jobTab(page).getByRole('button', {
    name: 'Terminal in worker-0'
  });
  const tab = page.locator('.jp-t9k-Terminal:visible');
  const screen = tab.locator('.xterm');

  await test.step('the replica has its command typed', async () => {
    await expect(button).not.toHaveAttribute('aria-disabled', 'true', {
      timeout: STARTED
    });
    await expect(
      jobTab(page).getByText(/^Debug mode: its process runs “sleep inf”/)
    ).toBeVisible();
    await expectAccessible(page);
    await picture(page, 'terminal-button');
    await button.click();
    await page.getByRole('menuitem', { name: 'worker-0' }).press('Enter');
    await expect(screen).toBeVisible({ timeout: STARTED });
    await expect(screen).toContainText('train.py', { timeout: STARTED });
    await expect(screen).not.toContainText('it trains');
    await picture(page, 'terminal');
  });

  await test.step('keys reach the shell', async () => {
    await screen.locator('textarea').press('Enter');
    await expect(screen).toContainText('it trains', { timeout: STARTED });
    await screen.locator('textarea').pressSequentially('exit 0\n');
    await expect(tab.getByText('The shell has ended.')).toBeVisible();
    await expectAccessible(page);
    await picture(page, 'terminal-ended');
  });

  await test.step('a new one can be opened, and a reload ends it', async () => {
    const again = tab.getByRole('button', { name: 'Open a new terminal' });
    await again.click();
    await expect(again).toBeHidden({ timeout: STARTED });
    await expect(screen).toContainText('train.py', { timeout: STARTED });
    // Galata's own option: no launcher is waited for, because the restored tabs are in its place.
    const options: object = { waitForIsReady: false };
    await page.reload(options);
    await expect(
      page.getByText('The shell of this terminal has ended.')
    ).toBeVisible({ timeout: STARTED });
  });
});
