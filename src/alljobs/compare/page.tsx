/** Page of a comparison of jobs; loaded when its tab is opened. */
import { Clipboard, Notification, ReactWidget } from '@jupyterlab/apputils';
import { Message } from '@lumino/messaging';
import * as React from 'react';
import { loadLook, saveLook } from '../../experiments/charts/kept';
import { ExperimentsClient } from '../../experiments/client';
import { CommandIDs } from '../../tokens';
import { jobIcon } from '../../ui/icons';
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
): Promise<ReactWidget> {
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
class CompareWidget extends ReactWidget {
  constructor(
    private readonly _model: JobCompareModel,
    private readonly _lab: IAllJobsLab
  ) {
    super();
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-CompareTab');
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    const count = _model.ids.length;
    this.title.label = _lab.trans._n(
      'Compare %1 job',
      'Compare %1 jobs',
      count
    );
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this._model.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._model.setVisible(this.isVisible);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._model.setVisible(true);
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this._model.setVisible(false);
  }

  /** Focus the heading, or the tab before the jobs are known. */
  protected override onActivateRequest(): void {
    if (!this.node.contains(document.activeElement)) {
      const heading = this.node.querySelector<HTMLElement>('h2');
      (heading ?? this.node).focus({ preventScroll: true });
    }
  }

  protected override render(): React.JSX.Element {
    return (
      <JobCompareView
        model={this._model}
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
