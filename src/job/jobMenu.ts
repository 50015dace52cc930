/** Menu of a job's actions. */
import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { openOnce } from '../common/menu';
import { CommandIDs } from '../tokens';

/** Commands of the menu in their order; `null` is a separator. */
const ITEMS: readonly (string | null)[] = [
  CommandIDs.openJob,
  CommandIDs.openTensorBoard,
  null,
  CommandIDs.stop,
  CommandIDs.pause,
  CommandIDs.resume,
  CommandIDs.rerun,
  CommandIDs.clone,
  null,
  CommandIDs.openWorkingDirectory,
  CommandIDs.openLogDirectory,
  null,
  CommandIDs.deleteJob,
  CommandIDs.remove
];

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
      const name = command === CommandIDs.openTensorBoard ? 'jobId' : 'id';
      menu.addItem({ command, args: { [name]: id } });
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
    CommandIDs.stopSweep,
    CommandIDs.retrySweep,
    CommandIDs.deleteSweep
  ]) {
    menu.addItem({ command, args: { id } });
  }
  openOnce(menu, x, y);
}
