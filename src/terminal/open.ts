/** Opening of terminals; loaded with the first one. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { InputDialog, WidgetTracker } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { TerminalPlace } from '../api/types';
import { notifyError } from '../shell/notices';
import { showTab } from '../shell/showTab';
import { IJobsModel } from '../tokens';
import { ITerminalLab, placeOf, TerminalView } from './widget';

/**
 * Show the terminal of a replica or rank; open it if there is none.
 *
 * @param id - Id of the job.
 * @param args - Arguments of the command. Without an `id`, from the palette, the user chooses among several places.
 *   `restored` is true for a tab of an earlier page, whose shell has ended.
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
      const { available, places, searchable } = await jobs.api.terminals(id);
      if (!available.supported || !places.length) {
        throw new Error(available.reason ?? trans.__('No replica runs.'));
      }
      let chosen: TerminalPlace | undefined = places[0];
      if (args.id === undefined) {
        chosen = await askPlace(places, trans);
        if (chosen?.rank === null && searchable.includes(chosen.replica)) {
          // Ranks without a log of their own are known only to the replica.
          const name = chosen.replica;
          const found = await jobs.api.terminals(id, name);
          const inside = found.places.filter(({ replica }) => replica === name);
          chosen = inside.length ? await askPlace(inside, trans) : chosen;
        }
      }
      if (!chosen) {
        return;
      }
      ({ replica, rank } = chosen);
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

/** Return the only place for a terminal, or the one that the user chooses; undefined if the user cancels. */
async function askPlace(
  places: readonly TerminalPlace[],
  trans: TranslationBundle
): Promise<TerminalPlace | undefined> {
  if (places.length === 1) {
    return places[0];
  }
  const names = places.map(place => placeOf(place, trans));
  const { button, value } = await InputDialog.getItem({
    title: trans.__('Open a terminal'),
    label: trans.__('Replica or rank'),
    items: names,
    okLabel: trans.__('Open')
  });
  return button.accept ? places[names.indexOf(value ?? '')] : undefined;
}
