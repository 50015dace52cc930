import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

/** An entry of a menu that a button opens. */
export interface IMenuItem {
  label: string;
  execute(): void;
  /** Why it can't be used now. */
  disabled?: string | null;
  /** Whether what it switches is on; only of switches. */
  toggled?: boolean;
}

/** Open one of the lab's menus below a button. A null entry is a line between others. */
export function openMenu(
  anchor: HTMLElement,
  items: readonly (IMenuItem | null)[]
): void {
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
  menu.aboutToClose.connect(() => {
    anchor.setAttribute('aria-expanded', 'false');
  });
  anchor.setAttribute('aria-expanded', 'true');
  const { left, bottom } = anchor.getBoundingClientRect();
  openOnce(menu, left, bottom);
}

/** Open a menu that is not used again; the focus returns to where it was. */
export function openOnce(menu: Menu, x: number, y: number): void {
  menu.addClass('jp-ThemedContainer'); // it is attached outside of the lab's shell
  const before = document.activeElement;
  menu.aboutToClose.connect(() => {
    if (before instanceof HTMLElement) {
      before.focus();
    }
    requestAnimationFrame(() => menu.dispose()); // its command runs after it has closed
  });
  menu.open(x, y);
}
