import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { clusterEngine } from '../model/capacity';
import { NODE_KINDS, INodesView, NodesModel } from '../model/nodes';
import { CommandIDs, IJobs } from '../tokens';
import { loadTranslation } from '../translation';
import { NodesWidget } from '../widgets/nodes';

const STATE_KEY = 'jupyterlab_t9kjob:nodes';

/** The table of the cluster's nodes. */
export const nodesPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:nodes',
  description: 'Shows the nodes of the cluster and what is free on each.',
  autoStart: true,
  requires: [IJobs],
  optional: [ILayoutRestorer, IStateDB, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobs,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tracker = new WidgetTracker<NodesWidget>({
      namespace: 't9kjob-nodes'
    });

    const create = (view: Partial<INodesView>): NodesWidget => {
      const model = new NodesModel(jobs, view);
      let saved = model.view;
      model.changed.connect(() => {
        if (model.view !== saved) {
          saved = model.view;
          void stateDB?.save(STATE_KEY, { ...saved });
        }
      });
      return new NodesWidget(model, trans);
    };

    app.commands.addCommand(CommandIDs.showNodes, {
      label: trans.__('Show Cluster Nodes'),
      caption: trans.__(
        'Show the nodes of the cluster and what is free on each'
      ),
      describedBy: { args: { type: 'object', properties: {} } },
      isVisible: () => clusterEngine(jobs.engines) !== null,
      execute: async () => {
        const view = viewOf(await stateDB?.fetch(STATE_KEY));
        let widget = tracker.find(() => true);
        if (!widget) {
          widget = create(view);
          app.shell.add(widget, 'main', { type: 'Distributed Job' });
          await tracker.add(widget);
        }
        app.shell.activateById(widget.id);
      }
    });
    let hadCluster = false;
    jobs.changed.connect(() => {
      const hasCluster = clusterEngine(jobs.engines) !== null;
      if (hasCluster !== hadCluster) {
        hadCluster = hasCluster;
        app.commands.notifyCommandChanged(CommandIDs.showNodes);
      }
    });
    palette?.addItem({
      command: CommandIDs.showNodes,
      category: trans.__('Distributed Jobs')
    });
    void restorer?.restore(tracker, {
      command: CommandIDs.showNodes,
      name: () => 'nodes'
    });
  }
};

/** How the table was set up, as far as what was kept can be read. */
function viewOf(kept: unknown): Partial<INodesView> {
  const { filter, kind, sort, down } = (kept ?? {}) as Record<string, unknown>;
  return {
    filter: typeof filter === 'string' ? filter : '',
    kind: NODE_KINDS.find(known => known === kind) ?? 'all',
    sort: typeof sort === 'string' ? sort : 'name',
    down: down === true
  };
}
