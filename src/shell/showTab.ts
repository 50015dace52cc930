import { JupyterFrontEnd } from '@jupyterlab/application';
import { Widget } from '@lumino/widgets';

/**
 * Show a tab in the main area: add a new one, or activate an existing one.
 *
 * A tab that the lab restored while this extension was not installed has lost its place; it is added again.
 *
 * @param type - Title of the tab's kind, as the lab names it in its list of tabs.
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
