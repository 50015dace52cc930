// Plain Playwright: Galata is made for the newest JupyterLab only.
import { expect, test } from '@playwright/test';
import path from 'path';

interface IApp {
  restored: Promise<void>;
  listPlugins(): string[];
  isPluginActivated(id: string): boolean;
}

/** Largest size of our code that the lab loads before one of our pages is opened, in uncompressed bytes. */
const START_LIMIT = 120_000;

test('the lab opens with our plugins, little to load, and no error of ours', async ({
  page
}) => {
  const loaded: Promise<{ url: string; size: number }>[] = [];
  page.on('response', response => {
    const url = response.url();
    if (url.includes('/lab/extensions/jupyterlab_t9kjob/')) {
      loaded.push(
        response.body().then(({ length }) => ({ url, size: length }))
      );
    }
  });
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(error.stack ?? error.message));
  page.on('console', message => {
    if (message.type() === 'error') {
      errors.push(`${message.text()} (${message.location().url})`);
    }
  });

  // A workspace of its own: the default one holds the tabs of what other tests have removed.
  await page.goto('lab/workspaces/smoke?reset&token=secret');
  await page.locator('#jp-main-dock-panel').waitFor();
  const inactive = await page.evaluate(async () => {
    const app = (window as unknown as { jupyterapp: IApp }).jupyterapp;
    await app.restored;
    const ours = app
      .listPlugins()
      .filter(id => id.startsWith('jupyterlab_t9kjob:'));
    return ours.length ? ours.filter(id => !app.isPluginActivated(id)) : null;
  });

  expect(inactive, 'our plugins that are not active').toEqual([]);
  expect(errors.filter(error => error.includes('t9kjob'))).toEqual([]);

  const files = await Promise.all(loaded);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  expect(files).not.toEqual([]);
  expect(total, JSON.stringify(files, null, 1)).toBeLessThanOrEqual(
    START_LIMIT
  );
});

test('another extension requires IJobs, and opens our pages by command', async ({
  page
}) => {
  const consumer = path.join(__dirname, 'consumer/remoteEntry.js');
  await page.route('**/t9kjob-consumer/remoteEntry.js', route =>
    route.fulfill({ path: consumer })
  );
  // As if the extension were installed: before the lab's deferred scripts read the page's configuration.
  await page.addInitScript(() =>
    document.addEventListener('readystatechange', () => {
      const node = document.getElementById('jupyter-config-data');
      if (node && document.readyState === 'interactive') {
        const config = JSON.parse(node.textContent ?? '');
        config.federated_extensions.push({
          name: 't9kjob-consumer',
          load: 'remoteEntry.js',
          extension: './extension'
        });
        node.textContent = JSON.stringify(config);
      }
    })
  );
  await page.goto('lab/workspaces/consumer?reset&token=secret');
  await expect(page.getByText(/^consumer: \d+ jobs, open$/)).toBeVisible();
  await expect(
    page.getByRole('region', { name: 'Distributed Jobs', exact: true })
  ).toContainText('New job');
});
