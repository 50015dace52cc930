/** Popup menus that are opened by buttons and removed after use. */

import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

/** An entry of a popup menu. */
export interface IMenuItem {
  label: string;
  execute(): void;
  /** Why the entry is disabled, shown as its tooltip; null or undefined if it is enabled. */
  disabled?: string | null;
  /** True if the switch is on; undefined for entries that are not switches. */
  toggled?: boolean;
}

/**
 * Open a popup menu below a button.
 *
 * @param anchor - The button.
 * @param items - The entries; null is a separator.
 */
export function openMenu(
  anchor: HTMLElement,
  items: readonly (IMenuItem | null)[]
): void {
  const menu = createMenu(items);
  menu.aboutToClose.connect(() => {
    anchor.setAttribute('aria-expanded', 'false');
  });
  anchor.setAttribute('aria-expanded', 'true');
  const { left, bottom } = anchor.getBoundingClientRect();
  openOnce(menu, left, bottom);
}

/**
 * Create a popup menu for `openOnce`.
 *
 * @param items - The entries; null is a separator.
 */
export function createMenu(items: readonly (IMenuItem | null)[]): Menu {
  const commands = new CommandRegistry();
  const menu = new MenuSvg({ commands });
  items.forEach((item, index) => {
    if (item === null) {
      menu.addItem({ type: 'separator' });
      return;
    }
    const command = String(index);
    commands.addCommand(command, {
      label: item.label,
      caption: item.disabled ?? '',
      describedBy: { args: {} },
      isEnabled: () => !item.disabled,
      isToggleable: item.toggled !== undefined,
      isToggled: () => item.toggled ?? false,
      execute: () => item.execute()
    });
    menu.addItem({ command });
  });
  return menu;
}

/**
 * Open a menu, and dispose of it when it closes. The focus returns to the element that had it before.
 *
 * @param menu - The menu.
 * @param x - Horizontal position in the page, in px.
 * @param y - Vertical position in the page, in px.
 */
export function openOnce(menu: Menu, x: number, y: number): void {
  // the menu is attached to the document's body, outside of JupyterLab's shell
  menu.addClass('jp-ThemedContainer');
  const before = document.activeElement;
  menu.aboutToClose.connect(() => {
    if (before instanceof HTMLElement) {
      before.focus();
    }
    requestAnimationFrame(() => menu.dispose()); // the selected command runs after the menu has closed
  });
  menu.open(x, y);
}
