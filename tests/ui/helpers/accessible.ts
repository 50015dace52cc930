/** Checks that a view can be used with a screen reader and without a mouse. */
import { expect } from '@jupyterlab/galata';
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator, Page } from '@playwright/test';
import axe from 'axe-core';
import { measureContrast } from './contrast';
import { inBothThemes } from './pictures';

/**
 * Problems that axe finds in our widgets, and texts with a low contrast in the page, in both themes.
 *
 * @param part - What axe looks at.
 */
export async function expectAccessible(
  page: Page,
  part = '.jp-t9k-View'
): Promise<void> {
  await expectNoViolations(page, part);
  await inBothThemes(page, async theme => {
    const { count, tooLow } = await measureContrast(page);
    expect(count).toBeGreaterThan(0);
    expect(tooLow, `in the ${theme} theme`).toEqual([]);
  });
}

/** Problems that axe finds in a part of the page without its frames. Axe's own builder takes eight times as long. */
export async function expectNoViolations(
  page: Page,
  part: string
): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(axe.source);
  }
  const found = await page.evaluate(async include => {
    const { axe: there } = window as unknown as { axe: typeof axe };
    const { violations } = await there.run(
      { include: [include], exclude: ['iframe'] },
      {
        iframes: false,
        resultTypes: ['violations'],
        rules: { 'color-contrast': { enabled: false } } // measured here, without its guesses
      }
    );
    return violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.map(node => node.html)
    }));
  }, part);
  expect(found).toEqual([]);
}

/** Names of all that the Tab key reaches from one control on, until it leaves a part of the page. */
export async function tabOrder(
  page: IJupyterLabPageFixture,
  part: Locator,
  first: Locator
): Promise<string[]> {
  await first.focus();
  const names: string[] = [];
  for (;;) {
    const name = await part.evaluate(element => {
      const { activeElement } = document;
      if (!activeElement || !element.contains(activeElement)) {
        return null;
      }
      const labelled = activeElement as HTMLInputElement;
      return (
        activeElement.getAttribute('aria-label') ??
        labelled.labels?.[0]?.textContent ??
        activeElement.textContent ??
        ''
      ).trim();
    });
    if (name === null || names.length > 200) {
      return names;
    }
    names.push(name);
    await page.keyboard.press('Tab');
  }
}
