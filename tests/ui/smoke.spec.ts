// Plain Playwright: Galata is made for the newest JupyterLab only.
import { expect, test } from '@playwright/test';

interface IApp {
  restored: Promise<void>;
  listPlugins(): string[];
  isPluginActivated(id: string): boolean;
}

test('the lab opens with our plugins and no error of ours', async ({
  page
}) => {
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
});
