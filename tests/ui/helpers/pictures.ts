import { expect, type Page } from '@playwright/test';
import path from 'path';
import { run } from './lab';

/** Where pictures of the designed states are kept. */
const FOLDER = path.resolve(__dirname, '../pictures');

/**
 * Take a picture of the lab in both themes, when the tests are run with PICTURES=1.
 *
 * @param part - Only this part of the page.
 * @param drawn - Waits for what a change of the theme draws anew.
 */
export async function picture(
  page: Page,
  name: string,
  {
    part = page as Pick<Page, 'screenshot'>,
    drawn = async (): Promise<void> => undefined
  } = {}
): Promise<void> {
  if (!process.env.PICTURES) {
    return;
  }
  await page.mouse.move(0, 0); // nothing is pointed at
  await inBothThemes(page, async theme => {
    await drawn();
    await part.screenshot({
      path: path.join(FOLDER, `${name}-${theme}.png`),
      animations: 'disabled'
    });
  });
}

/** Do something in both themes, first in the present one. The page stays in the other: each change of it takes time. */
export async function inBothThemes(
  page: Page,
  act: (theme: 'light' | 'dark') => Promise<void>
): Promise<void> {
  const isLight = await page.evaluate(
    () => document.body.dataset.jpThemeLight !== 'false'
  );
  await act(isLight ? 'light' : 'dark');
  await run(page, 'apputils:change-theme', {
    theme: isLight ? 'JupyterLab Dark' : 'JupyterLab Light'
  });
  await expect(page.locator('body')).toHaveAttribute(
    'data-jp-theme-light',
    String(!isLight)
  );
  await expect(page.locator('#jupyterlab-splash')).toHaveCount(0);
  await act(isLight ? 'dark' : 'light');
}
