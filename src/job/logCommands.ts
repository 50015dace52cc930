/** Commands of the log view. */
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { ILogViewHandle } from '../logs/view/LogView';
import { CommandIDs } from '../tokens';

/**
 * Add the commands of the log in the current tab.
 *
 * The settings schema binds them to keys in a log view. Users can change the keys.
 *
 * @param current - Returns the log in the current tab; null if there is none.
 */
export function addLogCommands(
  commands: CommandRegistry,
  current: () => ILogViewHandle | null,
  trans: TranslationBundle
): void {
  const add = (
    command: string,
    label: string,
    action: keyof ILogViewHandle
  ): void => {
    commands.addCommand(command, {
      label,
      describedBy: { args: {} },
      isEnabled: () => current() !== null,
      execute: () => current()?.[action]()
    });
  };
  add(CommandIDs.searchLog, trans.__('Search the Log'), 'search');
  add(
    CommandIDs.toggleLogTimes,
    trans.__('Show or Hide Times in the Log'),
    'toggleTimes'
  );
  add(
    CommandIDs.toggleLogWrap,
    trans.__('Wrap Long Lines of the Log'),
    'toggleWrap'
  );
  add(CommandIDs.selectLog, trans.__('Select the Whole Log'), 'selectAll');
  add(
    CommandIDs.copyLogWithRanks,
    trans.__('Copy Log Lines with Ranks and Times'),
    'copyWithRanks'
  );
}
