import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Page } from '@playwright/test';
import path from 'path';

/** Where pictures of the designed states are kept. */
const FOLDER = path.resolve(__dirname, '../pictures');

/**
 * Take a picture of the lab in both themes, when the tests are run with PICTURES=1.
 *
 * @param part - Only this part of the page.
 * @param drawn - Waits for what a change of the theme draws anew.
 */
export async function picture(
  page: IJupyterLabPageFixture,
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

/** Do something in the light theme, then in the dark one, and leave the page in the light one. */
export async function inBothThemes(
  page: IJupyterLabPageFixture,
  act: (theme: 'light' | 'dark') => Promise<void>
): Promise<void> {
  await act('light');
  await page.theme.setDarkTheme();
  await act('dark');
  await page.theme.setLightTheme();
}
