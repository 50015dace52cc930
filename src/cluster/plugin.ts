/** Plugin that shows the cluster's nodes. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { jobIcon } from '../ui/icons';
import { clusterEngine } from '../jobs/engines';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { DeferredWidget } from '../shell/deferred';
import { showTab } from '../shell/showTab';
import type { NodesWidget } from './widget';

/** Adds the command that shows the cluster's nodes in a tab, and restores the tab. */
export const nodesPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:nodes',
  description: 'Shows the nodes of the cluster and what is free on each.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [ILayoutRestorer, IStateDB, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tracker = new WidgetTracker<DeferredWidget<NodesWidget>>({
      namespace: 't9kjob-nodes'
    });

    const create = (): DeferredWidget<NodesWidget> => {
      const widget = new DeferredWidget<NodesWidget>({
        load: async () => {
          const { createNodes } = await import('./pages');
          return createNodes(jobs, stateDB, trans);
        },
        trans
      });
      widget.id = 't9kjob-nodes';
      widget.node.tabIndex = -1;
      widget.title.icon = jobIcon;
      widget.title.label = trans.__('Cluster Nodes');
      widget.title.closable = true;
      void widget.load();
      return widget;
    };

    app.commands.addCommand(CommandIDs.showNodes, {
      label: trans.__('Show Cluster Nodes'),
      caption: trans.__(
        'Show the nodes of the cluster and their free capacity'
      ),
      describedBy: { args: { type: 'object', properties: {} } },
      isVisible: () => clusterEngine(jobs.engines) !== null,
      execute: () => {
        let widget = tracker.find(() => true);
        if (!widget) {
          widget = create();
          void tracker.add(widget);
        }
        showTab(app.shell, widget);
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
