/** Opening of tabs in the main area. */

import { JupyterFrontEnd } from '@jupyterlab/application';
import { Widget } from '@lumino/widgets';

/**
 * Show a tab in the main area: add it if it is not attached, then activate it.
 *
 * A tab that JupyterLab restored while this extension was not installed is detached, so it is added again.
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
