/** Tests that follow each other in one page: to load the lab costs more than most of them. */
import { galata } from '@jupyterlab/galata';
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { IStateDB } from '@jupyterlab/statedb';
import type { BrowserContext, Page } from '@playwright/test';
import {
  FOLDER,
  kept,
  leaveOutUnused,
  removeAll,
  SETTINGS,
  test as base
} from './lab';

/**
 * As the `test` of `helpers/lab.ts`, but the tests of a file, or of a `describe`, have one page, with nothing open at the
 * begin of each: its first test loads the lab. After a failure the worker is another one, and so is the page.
 *
 * What our sidebar shows stays as it is, and so do scripts and WebSocket routes of the page.
 */
export const test = base.extend({
  // Playwright's own `page` takes the context's page, because the configuration reuses contexts.
  context: async ({ browser }, use, { titlePath }) => {
    const group = titlePath.slice(0, -1).join('\n');
    if (kept.group !== group) {
      await kept.context?.close();
      kept.context = await browser.newContext();
      await leaveOutUnused(kept.context);
      await mockServer(await kept.context.newPage());
      Object.assign(kept, { group, isLoaded: false });
    }
    await use(kept.context as BrowserContext);
  },
  mockSettings: false,
  mockState: false,
  autoGoto: async ({ autoGoto, context }, use) => {
    const [page] = context.pages();
    await use(autoGoto && page.url() === 'about:blank');
  },
  // The page would complain of a folder that is gone: this one stays, and is emptied.
  tmpPath: async ({ request }, use) => {
    const contents = galata.newContentsHelper(request);
    await removeAll(request);
    await contents.createDirectory(FOLDER);
    await use(FOLDER);
    await removeAll(request);
    const folder = await contents.getContentMetadata(FOLDER, 'directory');
    for (const { path, type } of folder?.content ?? []) {
      await (type === 'directory'
        ? contents.deleteDirectory(path)
        : contents.deleteFile(path));
    }
  },
  page: async ({ page, tmpPath, viewport }, use, info) => {
    if (kept.isLoaded) {
      await page.setViewportSize(viewport ?? { width: 1400, height: 900 });
      await showFolder(page, tmpPath);
    }
    await use(page);
    kept.isLoaded = info.status === info.expectedStatus;
    if (kept.isLoaded) {
      await tidy(page);
    }
  }
});

/** Keep the settings and the workspace of a page as Galata does, from test to test: it ends the routes of the page itself. */
async function mockServer(page: Page): Promise<void> {
  const context = page.context();
  const routed = new Proxy(page, {
    get: (target, name) =>
      name === 'route'
        ? context.route.bind(context)
        : Reflect.get(target, name).bind(target)
  });
  await galata.Mock.mockSettings(routed, [], { ...SETTINGS });
  await galata.Mock.mockState(routed, {
    data: {},
    metadata: { id: 'default' }
  });
}

/** Load the lab in tests that have something to do before: unless it has been loaded by a test before. */
export async function enter(page: IJupyterLabPageFixture): Promise<void> {
  if (page.url() === 'about:blank') {
    await page.goto('?reset');
  }
}

/** Show a folder as it is now in the file browser. */
async function showFolder(
  page: IJupyterLabPageFixture,
  folder: string
): Promise<void> {
  await page.evaluate(async path => {
    const { commands } = window.jupyterapp;
    await commands.execute('apputils:dismiss-notification', {}); // all of them
    await commands.execute('filebrowser:go-to-path', { path });
    await commands.execute('filebrowser:refresh');
  }, folder);
}

/** Close all that a test has opened, and set back what it has set. */
async function tidy(page: IJupyterLabPageFixture): Promise<void> {
  const open = page.locator('.jp-Dialog, .lm-Menu');
  while (await open.count()) {
    await page.keyboard.press('Escape');
  }
  await page.evaluate(async () => {
    const { commands, shell } = window.jupyterapp;
    // Nobody is asked about unsaved changes.
    [...shell.widgets('main')].forEach(widget => widget.dispose());
    await commands.execute('apputils:dismiss-notification', {});
    // What our pages have kept: folds, filters, drafts.
    const state = (await window.galata.getPlugin(
      '@jupyterlab/apputils-extension:state' as never
    )) as unknown as IStateDB;
    const { ids } = await state.list('jupyterlab_t9kjob');
    await Promise.all(ids.map(id => state.remove(id)));
  });
  await page.launcher.waitFor();
  await page.sidebar.openTab('filebrowser');
  await page.mouse.move(0, 0); // nothing is pointed at
}
