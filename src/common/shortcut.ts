import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

/** Append the keys that run a command to the label of its button; users can change or remove them. */
export type WithShortcut = (label: string, command: string) => string;

/** Create a function that reads the keys from the command registry of the lab. */
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
