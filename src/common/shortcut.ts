/** Labels of buttons with the keyboard shortcut of their command. */

import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { ISignal } from '@lumino/signaling';
import { useSignal } from './hooks';

/** Returns a label with the keyboard shortcut of a command, which users can change or remove. */
export interface IWithShortcut {
  (label: string, command: string): string;
  /** Emitted when shortcuts change, as when JupyterLab has read those of the user. */
  changed?: ISignal<unknown, unknown>;
}

/** Render the component again when shortcuts change. */
export function useShortcuts(labels: IWithShortcut): IWithShortcut {
  useSignal(labels.changed ?? null);
  return labels;
}

/** Create a function that reads the keyboard shortcuts from JupyterLab's command registry. */
export function shortcutLabels(
  commands: CommandRegistry,
  trans: TranslationBundle
): IWithShortcut {
  const withShortcut = (label: string, command: string): string => {
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
  return Object.assign(withShortcut, { changed: commands.keyBindingChanged });
}
