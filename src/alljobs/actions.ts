/** Actions of the table of jobs. */
import { InputDialog, Notification } from '@jupyterlab/apputils';
import { JobSummary } from '../api/types';
import { expectApiError } from '../api/errors';
import { serverNow } from '../common/clock';
import { writeValue } from '../common/filter/complete';
import { IMenuItem } from '../common/menu';
import { csvOf, fileName, saveText } from '../common/saveFile';
import { openJobMenu, openSweepMenu } from '../job/jobMenu';
import { ERROR_STAYS, notifyError } from '../shell/notices';
import { askViewName } from '../shell/viewName';
import { CommandIDs } from '../tokens';
import { askDay, confirmAll } from './confirm';
import { IAllJobsLab } from './host';
import { BulkKind, endedBefore, requestsOf } from './model/bulk';
import { rowsOfJobs } from './model/csv';
import { JobTableModel } from './model/table';
import { DEFAULT_VIEW, ownKey } from './model/view';
import { IGridActions } from './view/JobsGrid';
import { ISelectionActions } from './view/SelectionBar';

/** Most jobs of a request, see `jobs/bulk.py`; fewer, so that the progress is shown. */
const AT_ONCE = 50;
/** Most jobs that a comparison shows, and that one TensorBoard opens. */
const MOST_COMPARED = 100;
const MOST_IN_TENSORBOARD = 50;

/** Actions on jobs. An action on a job that is selected applies to all selected jobs. */
export class TableActions implements IGridActions, ISelectionActions {
  constructor(
    private readonly _model: JobTableModel,
    private readonly _lab: IAllJobsLab
  ) {}

  get running(): { done: number; total: number } | null {
    return this._running;
  }

  readonly open = ({ id }: JobSummary): void => {
    this._run(CommandIDs.openJob, { id });
  };

  readonly openLog = ({ id }: JobSummary): void => {
    this._run(CommandIDs.openJob, { id, tab: 'logs' });
  };

  readonly select = ({ id }: JobSummary, isRange: boolean): void => {
    const { _model: model } = this;
    model.selection = isRange
      ? model.selection.extend(
          id,
          model.rows.flatMap(row => (row.kind === 'job' ? row.job.id : []))
        )
      : model.selection.toggle(id);
  };

  readonly selectAll = (
    jobs: readonly JobSummary[],
    isSelected: boolean
  ): void => {
    const ids = jobs.map(({ id }) => id);
    this._model.selection = this._model.selection.set(ids, isSelected);
  };

  readonly toggle = (key: string): void => this._model.toggle(key);

  readonly openMenu = ({ id }: JobSummary, x: number, y: number): void =>
    openJobMenu(this._lab.app.commands, id, x, y);

  readonly openSweepMenu = (id: string, x: number, y: number): void =>
    openSweepMenu(this._lab.app.commands, id, x, y);

  get compareProblem(): string | null {
    const { trans } = this._lab;
    const { length } = this._model.selected;
    return length < 2
      ? trans.__('Select at least 2 jobs.')
      : length > MOST_COMPARED
        ? trans.__('Select at most %1 jobs.', MOST_COMPARED)
        : null;
  }

  readonly compare = (): void => {
    if (this.compareProblem === null) {
      const ids = this._model.selected.map(({ id }) => id);
      this._run(CommandIDs.openAllJobs, { page: 'compare', ids });
    }
  };

  tensorBoardProblem(jobs: readonly JobSummary[]): string | null {
    const { trans } = this._lab;
    const { length } = foldersOf(jobs);
    if (length === 0) {
      return trans.__('These jobs have no log directory for TensorBoard.');
    }
    return length > MOST_IN_TENSORBOARD
      ? trans.__('Select at most %1 jobs.', MOST_IN_TENSORBOARD)
      : null;
  }

  readonly openTensorBoard = (jobs: readonly JobSummary[]): void => {
    this._run(
      CommandIDs.openTensorBoard,
      jobs.length === 1 ? { jobId: jobs[0].id } : { paths: foldersOf(jobs) }
    );
  };

  readonly showRuns = (jobs: readonly JobSummary[]): void => {
    const names = jobs.map(({ name }) => writeValue(name)).join(', ');
    const filter = `run.job in (${names})`;
    this._run(CommandIDs.openExperiments, { page: 'runs', filter });
  };

  readonly exportCsv = (jobs: readonly JobSummary[]): void => {
    const { trans } = this._lab;
    const rows = rowsOfJobs(jobs, this._model.columns, serverNow());
    saveText(csvOf(rows), fileName(trans.__('jobs'), 'csv'), 'text/csv');
  };

  readonly remove = (job: JobSummary): void => {
    const { selected } = this._model;
    if (selected.some(({ id }) => id === job.id) && selected.length > 1) {
      const finished = endedBefore(selected, Infinity);
      if (finished.length > 0) {
        this.actOnAll('delete', finished);
      }
    } else {
      const { id, deleted } = job;
      this._run(deleted ? CommandIDs.remove : CommandIDs.deleteJob, { id });
    }
  };

  readonly actOnAll = (action: BulkKind, jobs: readonly JobSummary[]): void => {
    void this._actOnAll(action, jobs, this._model.selected.length);
  };

  /** Let the user save the shown settings as a view. */
  readonly saveView = async (): Promise<void> => {
    const { view, views } = this._model;
    const name = await askViewName(Object.keys(views), this._lab.trans);
    if (name !== null) {
      this._model.views = { ...views, [name]: view };
      this._model.choose(ownKey(name), view);
    }
  };

  /** Return the entries of the menu of further actions. */
  readonly moreItems = (): (IMenuItem | null)[] => {
    const { _model: model } = this;
    const { trans } = this._lab;
    const { views, view, shown } = model;
    const names = Object.keys(views).sort();
    return [
      {
        label: trans.__('Show deleted jobs'),
        toggled: view.deleted,
        execute: () => model.change({ deleted: !view.deleted })
      },
      {
        label: trans.__('Order: problems first, then active, then newest'),
        toggled: view.order.key === 'default',
        execute: () => model.change({ order: DEFAULT_VIEW.order })
      },
      null,
      {
        label: trans.__('Export all shown jobs as CSV'),
        disabled: shown.length === 0 ? trans.__('No job is shown.') : null,
        execute: () => this.exportCsv(shown)
      },
      {
        label: trans.__('Delete finished jobs before a day…'),
        execute: () => void this._deleteBefore()
      },
      {
        label: trans.__('Space of the records…'),
        execute: () => this._run(CommandIDs.openAllJobs, { page: 'space' })
      },
      ...(names.length > 0
        ? [
            null,
            {
              label: trans.__('Delete a view…'),
              execute: () => void this._deleteView(names)
            }
          ]
        : [])
    ];
  };

  private _run(
    command: string,
    args: { [name: string]: string | readonly string[] }
  ): void {
    const plain = Object.fromEntries(
      Object.entries(args).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [...value]
      ])
    );
    void this._lab.app.commands.execute(command, plain);
  }

  private async _deleteView(names: string[]): Promise<void> {
    const { trans } = this._lab;
    const { button, value } = await InputDialog.getItem({
      title: trans.__('Delete a view'),
      items: names,
      okLabel: trans.__('Delete')
    });
    if (button.accept && value) {
      this._model.deleteView(value);
    }
  }

  private async _deleteBefore(): Promise<void> {
    const { trans } = this._lab;
    const time = await askDay(trans);
    if (time === null) {
      return;
    }
    const jobs = endedBefore(
      this._model.shown.filter(({ mine }) => mine),
      time
    );
    if (jobs.length === 0) {
      Notification.info(
        trans.__('No shown job of yours ended before this day.'),
        { autoClose: 5000 }
      );
    } else {
      await this._actOnAll('delete', jobs, jobs.length);
    }
  }

  private async _actOnAll(
    action: BulkKind,
    jobs: readonly JobSummary[],
    selected: number
  ): Promise<void> {
    const { trans, jobs: all } = this._lab;
    const choice = await confirmAll(
      action,
      jobs,
      selected - jobs.length,
      trans
    );
    if (!choice || this._running) {
      return;
    }
    const problems: string[] = [];
    let done = 0;
    try {
      for (const request of requestsOf(action, jobs, choice.remove, AT_ONCE)) {
        this._setRunning({ done, total: jobs.length });
        const result = await all.api.actOnAll(request);
        problems.push(...result.problems.map(({ message }) => message));
        done += request.ids.length;
        if (action === 'delete') {
          const { selection } = this._model;
          this._model.selection = selection.set(result.done, false);
        }
      }
    } catch (error) {
      notifyError(expectApiError(error), trans);
    } finally {
      this._setRunning(null);
    }
    if (problems.length > 0) {
      Notification.error(
        trans._n(
          '%1 job could not be changed. %2',
          '%1 jobs could not be changed. The first one: %2',
          problems.length,
          problems[0]
        ),
        { autoClose: ERROR_STAYS }
      );
    }
  }

  private _setRunning(running: { done: number; total: number } | null): void {
    this._running = running;
    this._model.refresh();
  }

  private _running: { done: number; total: number } | null = null;
}

/** Return the folders of event files of jobs. */
function foldersOf(jobs: readonly JobSummary[]): string[] {
  return [...new Set(jobs.flatMap(({ log_dirs }) => log_dirs))];
}
