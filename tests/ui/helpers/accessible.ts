/** Checks that a view can be used with a screen reader and without a mouse. */
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from '@jupyterlab/galata';
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import { measureContrast } from './contrast';
import { inBothThemes } from './pictures';

/** Problems that axe finds in our widgets, and texts with a low contrast, in both themes. */
export async function expectAccessible(
  page: IJupyterLabPageFixture
): Promise<void> {
  const { violations } = await new AxeBuilder({ page: page as never })
    .include('.jp-t9k-View')
    .exclude('iframe')
    .disableRules(['color-contrast']) // measured here, without its guesses
    .analyze();
  expect(
    violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.map(node => node.html)
    }))
  ).toEqual([]);
  await inBothThemes(page, async theme => {
    const { count, tooLow } = await measureContrast(page);
    expect(count).toBeGreaterThan(0);
    expect(tooLow, `in the ${theme} theme`).toEqual([]);
  });
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
