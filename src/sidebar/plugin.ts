/** Plugin that adds the sidebar. */

import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { tableRowsIcon } from '@jupyterlab/ui-components';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { MonitorModel, MonitorWidget } from './widget';

const STATE_KEY = 'jupyterlab_t9kjob:sidebar';

/** Adds the sidebar with the jobs and the TensorBoards. */
export const monitorPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:monitor',
  description: 'Shows distributed jobs and TensorBoards in a sidebar.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [
    ILabShell,
    ILayoutRestorer,
    IStateDB,
    ICommandPalette,
    ILauncher,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const model = new MonitorModel();
    const widget = new MonitorWidget(jobs, model, app, trans);
    app.shell.add(widget, 'left', { rank: 250, type: 'Distributed Jobs' });
    restorer?.add(widget, widget.id);

    labShell?.currentChanged.connect((_, { newValue }) => {
      model.current = newValue?.node.dataset.jobId ?? null;
    });
    if (stateDB) {
      void remember(model, stateDB);
    }

    app.commands.addCommand(CommandIDs.showJobs, {
      // The launcher passes a folder and shows a shorter label.
      label: ({ cwd }) =>
        cwd === undefined
          ? trans.__('Show Distributed Jobs')
          : trans.__('Jobs'),
      caption: trans.__('Show the sidebar with all distributed jobs'),
      icon: ({ cwd }) => (cwd === undefined ? undefined : tableRowsIcon),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => app.shell.activateById(widget.id)
    });
    const category = trans.__('Distributed Jobs');
    palette?.addItem({ command: CommandIDs.showJobs, category });
    launcher?.add({ command: CommandIDs.showJobs, category, rank: 2 });
  }
};

/** Restore the sidebar's state, and save it on every change. */
async function remember(model: MonitorModel, stateDB: IStateDB): Promise<void> {
  const known = (await stateDB.fetch(STATE_KEY)) as
    { folded?: unknown; showDeleted?: unknown; onlyMine?: unknown } | undefined;
  if (known) {
    const folded = Array.isArray(known.folded) ? known.folded.map(String) : [];
    model.state = {
      folded,
      showDeleted: known.showDeleted === true,
      onlyMine: known.onlyMine !== false
    };
  }
  model.changed.connect(() => {
    void stateDB.save(STATE_KEY, {
      ...model.state,
      folded: [...model.state.folded]
    });
  });
}
