/** Page of a comparison of jobs; loaded when its tab is opened. */
import { Clipboard, Notification } from '@jupyterlab/apputils';
import * as React from 'react';
import { loadLook, saveLook } from '../../experiments/charts/kept';
import { ExperimentsClient } from '../../experiments/client';
import { PageWidget } from '../../shell/pageWidget';
import { CommandIDs } from '../../tokens';
import { IAllJobsLab } from '../host';
import { askJobs } from './ask';
import { ICompareLab, JobCompareView } from './JobCompareView';
import { JobCompareModel } from './model';
import '../../../style/pages.css';
import '../../../style/experiments/pages.css';

const LOOK_KEY = 'jupyterlab_t9kjob:comparison-charts';

/** Create the content of the tab of a comparison of jobs. */
export async function createComparison(
  ids: readonly string[],
  lab: IAllJobsLab
): Promise<CompareWidget> {
  const { jobs, stateDB, trans } = lab;
  const model = new JobCompareModel({
    jobs,
    client: new ExperimentsClient(jobs.api.serverSettings, trans),
    ids: [...new Set(ids)],
    look: await loadLook(stateDB, LOOK_KEY, 0),
    saveLook: look => saveLook(stateDB, LOOK_KEY, look)
  });
  return new CompareWidget(model, lab);
}

/** Content of the tab of a comparison of jobs. */
class CompareWidget extends PageWidget<JobCompareModel> {
  constructor(
    model: JobCompareModel,
    private readonly _lab: IAllJobsLab
  ) {
    const count = model.ids.length;
    super(model, {
      className: 'jp-t9k-CompareTab',
      label: _lab.trans._n('Compare %1 job', 'Compare %1 jobs', count)
    });
  }

  protected override render(): React.JSX.Element {
    return (
      <JobCompareView
        model={this.model}
        lab={labAround(this._lab)}
        trans={this._lab.trans}
      />
    );
  }
}

/** Return the lab's functions for a comparison. */
function labAround({ app, jobs, trans }: IAllJobsLab): ICompareLab {
  const { commands } = app;
  return {
    openJob: id => void commands.execute(CommandIDs.openJob, { id }),
    openComparison: ids =>
      void commands.execute(CommandIDs.openAllJobs, {
        page: 'compare',
        ids: [...ids]
      }),
    openTensorBoard: paths =>
      void commands.execute(CommandIDs.openTensorBoard, { paths: [...paths] }),
    askJobs: known => askJobs(jobs, known, trans),
    copy: (text, done) => {
      Clipboard.copyToSystem(text);
      Notification.success(done, { autoClose: 3000 });
    }
  };
}
