/** Opens the tab that compares the jobs of a sweep; loaded on first use. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { IJobsModel } from '../../tokens';
import { showTab } from '../../shell/showTab';
import { ResultsWidget } from './widget';

const shown = new Map<string, MainAreaWidget<ResultsWidget>>();

/** Show the tab of a sweep; open it if it is not open. */
export function showResults(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  id: string,
  trans: TranslationBundle
): void {
  let tab = shown.get(id);
  if (!tab) {
    const content = new ResultsWidget(jobs, id, app.commands, trans);
    tab = new MainAreaWidget({ content });
    tab.id = `t9kjob-sweep-${id}`;
    tab.toolbar.hide();
    shown.set(id, tab);
    tab.disposed.connect(() => shown.delete(id));
  }
  showTab(app.shell, tab);
}
