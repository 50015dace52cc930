/** Labels of buttons with the keyboard shortcut of their command. */

import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

/** Return a label with the keyboard shortcut of a command, which users can change or remove. */
export type WithShortcut = (label: string, command: string) => string;

/** Create a function that reads the keyboard shortcuts from JupyterLab's command registry. */
export function shortcutLabels(
  commands: CommandRegistry,
  trans: TranslationBundle
): WithShortcut {
  return (label, command) => {
    const binding = commands.keyBindings.find(
      known => known.command === command
    );
    return binding
      ? trans.__(
          '%1 (%2)',
          label,
          CommandRegistry.formatKeystroke(binding.keys)
        )
      : label;
  };
}
