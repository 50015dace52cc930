import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { openOnce } from '../common/menu';
import { CommandIDs } from '../tokens';

/** The actions of a job in the order of its menu; `null` is a separator. */
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

/** Open the menu of all actions of a job at a point of the page. */
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
