/** Opening of tabs in the main area. */

import { JupyterFrontEnd } from '@jupyterlab/application';
import { Widget } from '@lumino/widgets';

/**
 * Show a tab in the main area: add it if it is not attached, then activate it.
 *
 * JupyterLab detaches a restored tab whose plugin was not installed at that time; such a tab is added again.
 *
 * @param shell - JupyterLab's shell.
 * @param tab - The tab.
 * @param type - Name of the kind of tab in JupyterLab's list of tabs.
 */
export function showTab(
  shell: JupyterFrontEnd.IShell,
  tab: Widget,
  type = 'Distributed Job'
): void {
  if (!tab.isAttached) {
    shell.add(tab, 'main', { type });
  }
  shell.activateById(tab.id);
}
