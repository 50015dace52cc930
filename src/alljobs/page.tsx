/** Page with the table of jobs; loaded when its tab is opened. */
import { JSONObject } from '@lumino/coreutils';
import * as React from 'react';
import { addSweepActions } from '../job/sweepActions';
import { PageWidget } from '../shell/pageWidget';
import { TableActions } from './actions';
import { IAllJobsLab } from './host';
import { JobTableModel } from './model/table';
import { DEFAULT_VIEW, readView, readViews } from './model/view';
import { JobTableView } from './view/JobTableView';
import '../../style/pages.css';
import '../../style/experiments/table.css';
import '../../style/experiments/toolbar.css';
import '../../style/alljobs/table.css';

/** Key of the settings of the table in the state database. */
const STATE_KEY = 'jupyterlab_t9kjob:all-jobs';

/** Create the table with the settings that were kept. */
export async function createTable(lab: IAllJobsLab): Promise<TableWidget> {
  const { jobs, stateDB, trans, app } = lab;
  const kept = ((await stateDB
    ?.fetch(STATE_KEY)
    .catch(error => console.warn('t9kjob: the kept view of jobs:', error))) ??
    {}) as Record<string, unknown>;
  const model = new JobTableModel({
    jobs,
    view: kept.view ? readView(kept.view) : DEFAULT_VIEW,
    views: readViews(kept.views),
    chosen: typeof kept.chosen === 'string' ? kept.chosen : 'all',
    trans
  });
  const state = (): Record<string, unknown> => ({
    view: model.view,
    views: model.views,
    chosen: model.chosen
  });
  let saved = state();
  model.changed.connect(() => {
    const now = state();
    if (Object.keys(now).some(key => now[key] !== saved[key])) {
      saved = now;
      // Views consist of JSON values; their types are readonly.
      void stateDB?.save(STATE_KEY, saved as JSONObject);
    }
  });
  addSweepActions(app, jobs, trans);
  return new TableWidget(model, lab);
}

/** Content of the tab “All jobs”. */
class TableWidget extends PageWidget<JobTableModel> {
  constructor(
    model: JobTableModel,
    private readonly _lab: IAllJobsLab
  ) {
    super(model, {
      className: 'jp-t9k-AllJobs',
      label: _lab.trans.__('All jobs'),
      focus: '[role="treegrid"]'
    });
    this._actions = new TableActions(model, _lab);
  }

  protected override render(): React.JSX.Element {
    const { moreItems, saveView } = this._actions;
    return (
      <JobTableView
        model={this.model}
        jobs={this._lab.jobs}
        actions={this._actions}
        moreItems={moreItems}
        saveView={() => void saveView()}
        trans={this._lab.trans}
      />
    );
  }

  private readonly _actions: TableActions;
}
