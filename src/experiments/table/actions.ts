/** Actions on the runs of the table: their menu, selection, tags, notes, exports. */

import { Clipboard, Notification } from '@jupyterlab/apputils';
import { formatBytes } from '../../common/format';
import { createMenu, IMenuItem, openOnce } from '../../common/menu';
import { notifyError } from '../../shell/notices';
import { CommandIDs } from '../../tokens';
import { ExperimentsClient } from '../client';
import { IExperimentsLab } from '../host';
import { ITableColumn } from '../model/columns';
import { ExperimentsModel } from '../model/experiments';
import { runsAsCsv, runsAsPandas } from '../model/export';
import { openComparison, openRun } from '../open';
import { confirmRemoval } from '../removal';
import { RunRow } from '../../api/types';
import { askNote, askTags, mergedTags } from './dialogs';
import { metricMenu } from './metricMenu';
import { ITableActions } from './rows/RunsTable';

/** Most runs that a comparison shows, and that one TensorBoard opens. */
export const MOST_COMPARED = 100;
const MOST_IN_TENSORBOARD = 50;

/** Actions on runs. An action on a run that is selected applies to all selected runs. */
export class RunActions implements ITableActions {
  constructor(
    private readonly _model: ExperimentsModel,
    private readonly _client: ExperimentsClient,
    private readonly _lab: IExperimentsLab
  ) {
    this.openRun = _lab.hasPage('run')
      ? id => openRun(_lab.app.commands, id)
      : null;
  }

  readonly openRun: ((id: string) => void) | null;

  readonly openJob = (id: string): void => {
    void this._lab.app.commands.execute(CommandIDs.openJob, { id });
  };

  readonly select = (run: RunRow, isRange: boolean): void => {
    const { _model: model } = this;
    model.selection = isRange
      ? model.selection.extend(
          run.id,
          model.rows.flatMap(row => (row.kind === 'run' ? row.run.id : []))
        )
      : model.selection.toggle(run.id);
  };

  readonly openColumnMenu = (
    column: ITableColumn,
    x: number,
    y: number
  ): void => {
    const items = metricMenu(this._model, column, this._lab.trans);
    openOnce(createMenu(items), x, y);
  };

  /** Why the selected runs cannot be compared; null if they can be. Undefined if there is no such page. */
  get compareProblem(): string | null | undefined {
    const { trans, hasPage } = this._lab;
    const { length } = this._model.selected;
    if (!hasPage('comparison')) {
      return undefined;
    }
    return length < 2
      ? trans.__('Select at least 2 runs.')
      : length > MOST_COMPARED
        ? trans.__('Select at most %1 runs.', MOST_COMPARED)
        : null;
  }

  readonly compare = (): void => {
    if (this.compareProblem === null) {
      const ids = this._model.selected.map(({ id }) => id);
      openComparison(this._lab.app.commands, ids);
    }
  };

  /** Why no TensorBoard can show the runs; null if one can. */
  tensorBoardProblem(runs: readonly RunRow[]): string | null {
    const { trans } = this._lab;
    const { length } = this._logDirs(runs);
    if (length === 0) {
      return trans.__('These runs have no TensorBoard event files.');
    }
    return length > MOST_IN_TENSORBOARD
      ? trans.__('Select at most %1 runs.', MOST_IN_TENSORBOARD)
      : null;
  }

  readonly openTensorBoard = (runs: readonly RunRow[]): void => {
    const paths = this._logDirs(runs);
    void this._lab.app.commands.execute(CommandIDs.openTensorBoard, { paths });
  };

  readonly tag = (run?: RunRow): void => {
    void this._edit(this._chosen(run), async runs => {
      const tags = await askTags(runs, this._lab.trans);
      return tags && (each => ({ tags: mergedTags(each, runs, tags) }));
    });
  };

  readonly note = (run: RunRow): void => {
    void this._edit([run], async () => {
      const note = await askNote(run, this._lab.trans);
      return note === null ? null : () => ({ note });
    });
  };

  readonly archive = (runs: readonly RunRow[], archived: boolean): void => {
    void this._edit(runs, () => () => ({ archived }));
  };

  readonly remove = (run?: RunRow): void => {
    void this._remove(this._chosen(run));
  };

  readonly exportCsv = (runs: readonly RunRow[]): void => {
    const text = runsAsCsv(runs, this._model.columns);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.download = 'runs.csv';
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href));
  };

  readonly copyPandas = (runs: readonly RunRow[]): void => {
    const { trans } = this._lab;
    Clipboard.copyToSystem(runsAsPandas(runs, this._model.columns));
    Notification.info(trans.__('Copied. Paste the code into a notebook.'), {
      autoClose: 3000
    });
  };

  readonly openMenu = (run: RunRow, x: number, y: number): void => {
    const { trans } = this._lab;
    const { openRun: open } = this;
    const { job, path } = run;
    const items: (IMenuItem | null)[] = [];
    const add = (label: string, execute: () => void): void => {
      items.push({ label, execute });
    };
    if (open) {
      add(trans.__('Open'), () => open(run.id));
    }
    if (job) {
      add(trans.__('Open the job %1', job.name), () => this.openJob(job.id));
    }
    if (path) {
      add(trans.__('Show in the file browser'), () => this._showFolder(path));
    }
    items.push({
      label: trans.__('Open in TensorBoard'),
      disabled: this.tensorBoardProblem([run]),
      execute: () => this.openTensorBoard([run])
    });
    items.push(null);
    const chosen = this._chosen(run);
    add(trans.__('Tag…'), () => this.tag(run));
    add(trans.__('Note…'), () => this.note(run));
    add(run.archived ? trans.__('Restore') : trans.__('Archive'), () =>
      this.archive(chosen, !run.archived)
    );
    items.push(null);
    add(trans.__('Delete…'), () => this.remove(run));
    openOnce(createMenu(items), x, y);
  };

  /** Return the selected runs if a run is one of them or is not given; else the run. */
  private _chosen(run?: RunRow): readonly RunRow[] {
    const { selected } = this._model;
    return run && !selected.some(({ id }) => id === run.id) ? [run] : selected;
  }

  /** Return the folders of event files: those of the runs' jobs, and the runs' own. */
  private _logDirs(runs: readonly RunRow[]): string[] {
    const paths = runs.flatMap(({ origin, path, job }) => {
      const known = job && this._lab.jobs.get(job.id);
      if (origin === 'events' && path) {
        return [path];
      }
      return known?.log_dirs ?? [];
    });
    return [...new Set(paths)];
  }

  private _showFolder(path: string): void {
    const { commands } = this._lab.app;
    commands
      .execute('filebrowser:go-to-path', { path })
      .catch((error: unknown) => notifyError(error, this._lab.trans));
  }

  /** Change what the lab keeps about runs, and show the first error. */
  private async _edit(
    runs: readonly RunRow[],
    ask: (runs: readonly RunRow[]) => Edit | null | Promise<Edit | null>
  ): Promise<void> {
    const edit = runs.length > 0 ? await ask(runs) : null;
    if (!edit) {
      return;
    }
    try {
      for (const run of runs) {
        const changed = await this._client.change(run.id, edit(run));
        this._model.store.replace(changed);
      }
    } catch (error) {
      notifyError(error, this._lab.trans);
    }
  }

  private async _remove(runs: readonly RunRow[]): Promise<void> {
    if (runs.length === 0) {
      return;
    }
    const { trans } = this._lab;
    const ids = runs.map(({ id }) => id);
    try {
      const { items, size } = await this._client.remove(ids, true);
      const title =
        runs.length === 1
          ? trans.__('Delete %1?', runs[0].name)
          : trans._n('Delete %1 run?', 'Delete %1 runs?', runs.length);
      const says = trans.__(
        '%1 will be deleted. To hide runs and keep their files, archive them instead.',
        formatBytes(size)
      );
      if (await confirmRemoval({ title, says }, items, trans)) {
        await this._client.remove(ids, false);
        this._model.store.forget(ids);
      }
    } catch (error) {
      notifyError(error, trans);
    }
  }
}

type Edit = (run: RunRow) => {
  tags?: string[];
  note?: string;
  archived?: boolean;
};
