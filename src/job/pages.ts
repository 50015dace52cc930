/** Contents of job tabs, connected with the lab. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { Clipboard, Notification } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { IStateDB } from '@jupyterlab/statedb';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { IJobViewLab } from './view/JobView';
import { IMenuItem, openMenu } from '../common/menu';
import { openFile, openFolder } from '../shell/openPath';
import { JobTabModel, JobTabStore } from './model/jobTab';
import { isActive } from '../jobs/phase';
import { shortcutLabels } from '../common/shortcut';
import { CommandIDs, IJobsModel } from '../tokens';
import { askStream, askTime, JobWidget } from './widget';

/** Services of the lab for job tabs. */
interface IJobPagesOptions {
  app: JupyterFrontEnd;
  jobs: IJobsModel;
  editors: IEditorServices;
  stateDB: IStateDB | null;
  trans: TranslationBundle;
}

/** Creates the contents of job tabs. All tabs keep their state in one store. */
export class JobPages {
  constructor(private readonly _options: IJobPagesOptions) {
    this._store = new JobTabStore(_options.stateDB);
  }

  /**
   * Create the content of a job's tab.
   *
   * @param id - Id of the job.
   * @param close - Closes the tab.
   */
  create(id: string, close: () => void): JobWidget {
    const { jobs, trans } = this._options;
    const model = new JobTabModel(jobs, id, this._store);
    return new JobWidget(model, labAround(this._options, id, close), trans);
  }

  private readonly _store: JobTabStore;
}

/** Return the lab's functions for one job's tab. */
function labAround(
  { app, jobs, editors, trans }: IJobPagesOptions,
  id: string,
  close: () => void
): IJobViewLab {
  const { commands } = app;
  const argsOf = (command: string): { id: string } | { jobId: string } =>
    command === CommandIDs.openTensorBoard ? { jobId: id } : { id };
  const run = (command: string, args?: ReadonlyPartialJSONObject): void => {
    void commands.execute(command, { ...argsOf(command), ...args });
  };
  return {
    editors,
    run,
    withShortcut: shortcutLabels(commands, trans),
    close,
    has: command => commands.hasCommand(command),
    openFile: file => void openFile(app, file, trans),
    openFolder: path => void openFolder(app, path, trans),
    showRuns: job => {
      const isUnique = jobs.jobs.every(
        other => other.name !== job.name || other.id === job.id
      );
      void commands.execute(CommandIDs.openExperiments, {
        filter: isUnique
          ? `run.job = "${job.name}"`
          : `run.job_id = "${job.id}"`
      });
    },
    openJob: other => void commands.execute(CommandIDs.openJob, { id: other }),
    askTime: near => askTime(near, trans),
    askStream: ids => askStream(ids, trans),
    copyAddress: parameters => {
      const lab = URLExt.join(
        jobs.api.serverSettings.baseUrl,
        PageConfig.getOption('appUrl') || 'lab'
      );
      const search = new URLSearchParams(parameters).toString();
      Clipboard.copyToSystem(`${lab}?${search}`);
      Notification.success(trans.__('The address was copied.'), {
        autoClose: 3000
      });
    },
    kernelTitle: name => {
      const { specs } = app.serviceManager.kernelspecs;
      const key = name ?? specs?.default ?? '';
      return (
        specs?.kernelspecs[key]?.display_name ??
        name ??
        trans.__('the default kernel')
      );
    },
    download: url => {
      const link = document.createElement('a');
      link.href = url;
      link.download = '';
      link.click();
    },
    // The menu has the actions without a button in the toolbar.
    openMenu: (anchor, job, terminals) => {
      const active = isActive(job);
      const groups = [
        active ? [CommandIDs.rerun] : [],
        active ? [CommandIDs.openTerminal] : [],
        [CommandIDs.openWorkingDirectory, CommandIDs.openLogDirectory],
        active ? [CommandIDs.deleteJob] : [CommandIDs.remove]
      ].map(group =>
        group
          .filter(
            command =>
              commands.hasCommand(command) &&
              commands.isVisible(command, argsOf(command))
          )
          .map(command => ({
            label: commands.label(command, argsOf(command)),
            disabled:
              (command === CommandIDs.openTerminal &&
                !terminals?.available.supported &&
                terminals?.available.reason) ||
              (commands.isEnabled(command, argsOf(command))
                ? null
                : (job.read_only ?? trans.__('Not possible now'))),
            execute: () => run(command)
          }))
      );
      const items: (IMenuItem | null)[] = groups
        .filter(group => group.length > 0)
        .flatMap((group, index) => (index ? [null, ...group] : group));
      openMenu(anchor, items);
    }
  };
}
