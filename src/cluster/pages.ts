/** Entry of the chunk that is loaded when the tab “Cluster Nodes” is opened. */
import { IStateDB } from '@jupyterlab/statedb';
import { TranslationBundle } from '@jupyterlab/translation';
import { INodesView, NODE_KINDS, NodesModel } from './model/nodes';
import { IJobsModel } from '../tokens';
import { NodesWidget } from './widget';

/** Key of the table's settings in the state database. */
const STATE_KEY = 'jupyterlab_t9kjob:nodes';

/**
 * Create the tab's content with the saved settings of the table.
 *
 * @param jobs - The jobs, which know the cluster.
 * @param stateDB - Saves the settings; null if the lab has no state database.
 */
export async function createNodes(
  jobs: IJobsModel,
  stateDB: IStateDB | null,
  trans: TranslationBundle
): Promise<NodesWidget> {
  const kept = await stateDB
    ?.fetch(STATE_KEY)
    .catch(error => console.warn('t9kjob: the kept view of the nodes:', error));
  const model = new NodesModel(jobs, viewOf(kept));
  let saved = model.view;
  model.changed.connect(() => {
    if (model.view !== saved) {
      saved = model.view;
      void stateDB?.save(STATE_KEY, { ...saved });
    }
  });
  return new NodesWidget(model, trans);
}

/** Return the saved settings. Values that are invalid are replaced by defaults. */
function viewOf(kept: unknown): Partial<INodesView> {
  const { filter, kind, sort, down } = (kept ?? {}) as Record<string, unknown>;
  return {
    filter: typeof filter === 'string' ? filter : '',
    kind: NODE_KINDS.find(known => known === kind) ?? 'all',
    sort: typeof sort === 'string' ? sort : 'name',
    down: down === true
  };
}
