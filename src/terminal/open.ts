/** Opening of terminals; loaded with the first one. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { notifyError } from '../shell/notices';
import { showTab } from '../shell/showTab';
import { IJobsModel } from '../tokens';
import { ITerminalLab, TerminalView } from './widget';

/**
 * Show the terminal of a replica or rank; open it if there is none.
 *
 * @param id - Id of the job.
 * @param args - Arguments of the command; `restored` is true for a tab of an earlier page, whose shell has ended.
 */
export async function openTerminal(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  tracker: WidgetTracker<TerminalView>,
  services: Omit<ITerminalLab, 'serverSettings'>,
  id: string,
  args: ReadonlyPartialJSONObject
): Promise<void> {
  const { trans } = services;
  let { replica, rank } = args;
  try {
    if (typeof replica !== 'string') {
      const { available, places } = await jobs.api.terminals(id);
      if (!available.supported || !places.length) {
        throw new Error(available.reason ?? trans.__('No replica runs.'));
      }
      [{ replica, rank }] = places;
    }
  } catch (error) {
    notifyError(error, trans);
    return;
  }
  const place = { id, replica, rank: rank == null ? null : Number(rank) };
  const key = `t9kjob-terminal-${id}-${replica}-${place.rank ?? ''}`;
  let view = tracker.find(known => known.id === key);
  if (view) {
    void view.start();
  } else {
    const { serverSettings } = jobs.api;
    const lab = { ...services, serverSettings };
    view = new TerminalView(place, lab, !args.restored);
    view.id = key;
    void tracker.add(view);
  }
  showTab(app.shell, view, 'Terminal');
}
