/** Menu of a job's actions. */
import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { openOnce } from '../common/menu';
import { CommandIDs } from '../tokens';

/** Commands of the menu in their order; `null` is a separator. */
const ITEMS: readonly (string | null)[] = [
  CommandIDs.openJob,
  CommandIDs.openTensorBoard,
  CommandIDs.openTerminal,
  null,
  CommandIDs.stop,
  CommandIDs.pause,
  CommandIDs.resume,
  CommandIDs.rerun,
  CommandIDs.clone,
  CommandIDs.openAllJobs,
  null,
  CommandIDs.openWorkingDirectory,
  CommandIDs.openLogDirectory,
  null,
  CommandIDs.deleteJob,
  CommandIDs.remove
];

function argsOf(
  command: string,
  id: string
): { [name: string]: string | string[] } {
  switch (command) {
    case CommandIDs.openTensorBoard:
      return { jobId: id };
    case CommandIDs.openAllJobs:
      return { page: 'compare', ids: [id] };
    default:
      return { id };
  }
}

/**
 * Open the menu of a job's actions.
 *
 * @param id - Id of the job.
 * @param x - Horizontal position in the page, in px.
 * @param y - Vertical position in the page, in px.
 */
export function openJobMenu(
  commands: CommandRegistry,
  id: string,
  x: number,
  y: number
): void {
  const menu = new MenuSvg({ commands });
  for (const command of ITEMS) {
    if (command === null) {
      menu.addItem({ type: 'separator' });
    } else if (commands.hasCommand(command)) {
      menu.addItem({ command, args: argsOf(command, id) });
    }
  }
  openOnce(menu, x, y);
}

/**
 * Open the menu of the actions on all jobs of a sweep.
 *
 * @param id - Id of the sweep.
 * @param x - Horizontal position in the page, in px.
 * @param y - Vertical position in the page, in px.
 */
export function openSweepMenu(
  commands: CommandRegistry,
  id: string,
  x: number,
  y: number
): void {
  const menu = new MenuSvg({ commands });
  for (const command of [
    CommandIDs.compareSweep,
    CommandIDs.compareSweepJobs,
    CommandIDs.stopSweep,
    CommandIDs.retrySweep,
    CommandIDs.deleteSweep
  ]) {
    menu.addItem({ command, args: { id } });
  }
  openOnce(menu, x, y);
}
