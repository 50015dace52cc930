/** Page with the table of runs; loaded when its tab is opened. */
import { JSONObject } from '@lumino/coreutils';
import * as React from 'react';
import { PageWidget } from '../../shell/pageWidget';
import { ExperimentsClient } from '../client';
import { CreatePage, IExperimentsLab } from '../host';
import { ExperimentsModel } from '../model/experiments';
import { RunStore } from '../model/runStore';
import { StepValues } from '../model/stepValues';
import { readView, readViews } from '../model/view';
import { RunActions } from './actions';
import { ExperimentsView } from './ExperimentsView';
import '../../../style/experiments/table.css';
import '../../../style/experiments/toolbar.css';

/** Key of the settings of the table in the state database. */
const STATE_KEY = 'jupyterlab_t9kjob:experiments';

/** Create the table with the settings that were kept. */
export const create: CreatePage = async (_address, lab) => {
  const { jobs, stateDB } = lab;
  const kept = ((await stateDB
    ?.fetch(STATE_KEY)
    .catch(error => console.warn('t9kjob: the kept view of runs:', error))) ??
    {}) as Record<string, unknown>;
  const view = readView(kept.view);
  const client = new ExperimentsClient(jobs.api.serverSettings, lab.trans);
  const model = new ExperimentsModel({
    store: new RunStore(client, {
      folder: view.folder,
      metrics: [],
      curves: []
    }),
    view,
    views: readViews(kept.views),
    steps: new StepValues(client),
    sweepOf: ({ job }) => (job && jobs.get(job.id)?.sweep?.name) ?? null
  });
  let saved = { view: model.view, views: model.views };
  model.changed.connect(() => {
    if (model.view !== saved.view || model.views !== saved.views) {
      saved = { view: model.view, views: model.views };
      // Views consist of JSON values; their types are readonly.
      void stateDB?.save(STATE_KEY, saved as unknown as JSONObject);
    }
  });
  return new RunsWidget(model, new RunActions(model, client, lab), lab);
};

/** Content of the tab “Experiments”. */
class RunsWidget extends PageWidget<ExperimentsModel> {
  constructor(
    model: ExperimentsModel,
    private readonly _actions: RunActions,
    private readonly _lab: IExperimentsLab
  ) {
    super(model, {
      className: 'jp-t9k-RunsTab',
      label: _lab.trans.__('Experiments'),
      focus: '[role="grid"]'
    });
  }

  /** Show the runs of a folder, or those that an expression matches; called by the command. */
  showRuns(folder: unknown, filter: unknown): void {
    if (typeof filter === 'string') {
      this.model.change({ filter, folder: '' });
    } else if (typeof folder === 'string') {
      this.model.change({ folder });
    }
  }

  protected override render(): React.JSX.Element {
    return (
      <ExperimentsView
        model={this.model}
        actions={this._actions}
        lab={this._lab}
      />
    );
  }
}
