/** Plugin that adds jobs and TensorBoards to JupyterLab's Running panel. */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IRunningSessionManagers, IRunningSessions } from '@jupyterlab/running';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { Throttler } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';
import { JobSummary, TensorBoard } from '../api/types';
import { stateIcons, tensorBoardIcon } from '../ui/icons';
import { serverNow } from '../common/clock';
import { formatAgo, listed, wholePercent } from '../common/format';
import {
  hasBar,
  iconStateOf,
  isActive,
  stateOf,
  stateWord
} from '../jobs/phase';
import { jobSentence, jobTitle } from '../jobs/sentence';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { notifyError } from '../shell/notices';

/** The minimum time between two updates of the panel, in ms. */
const INTERVAL = 250;

/** Adds sections for jobs and TensorBoards to the Running panel. */
export const runningPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:running',
  description: 'Lists running jobs and TensorBoards in the Running panel.',
  autoStart: true,
  requires: [IJobsModel, IRunningSessionManagers],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    managers: IRunningSessionManagers,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    managers.add(new JobsManager(jobs, app.commands, trans));
    managers.add(new TensorBoardsManager(jobs, app.commands, trans));
  }
};

/** A section of the Running panel. It emits `runningChanged` only if something that it shows has changed. */
abstract class Manager<Model> implements IRunningSessions.IManager {
  constructor(
    protected readonly jobs: IJobsModel,
    protected readonly commands: CommandRegistry,
    protected readonly trans: TranslationBundle
  ) {
    this.shutdownLabel = trans.__('Stop');
    this.shutdownAllLabel = trans.__('Stop All');
    jobs.changed.connect(() => void this._checking.invoke());
  }

  abstract readonly name: string;
  readonly shutdownLabel: string;
  readonly shutdownAllLabel: string;

  get runningChanged(): ISignal<this, void> {
    return this._runningChanged;
  }

  running(): IRunningSessions.IRunningItem[] {
    return this.models().map(model => this.item(model));
  }

  refreshRunning(): void {
    // The server pushes all changes.
  }

  shutdownAll(): void {
    void Promise.all(this.models().map(model => this.stop(model))).catch(
      (error: unknown) => notifyError(error, this.trans)
    );
  }

  protected abstract models(): Model[];
  protected abstract item(model: Model): IRunningSessions.IRunningItem;
  protected abstract stop(model: Model): Promise<unknown>;

  /** Emit `runningChanged` if the shown texts have changed. */
  private _check(): void {
    const shown = JSON.stringify(
      this.running().map(item => [
        item.label(),
        item.className,
        item.detail?.()
      ])
    );
    if (shown !== this._shown) {
      this._shown = shown;
      this._runningChanged.emit();
    }
  }

  /** A check compares all jobs, so all changes of an interval share one check at its end. */
  private readonly _checking = new Throttler(() => this._check(), {
    limit: INTERVAL,
    edge: 'trailing'
  });
  private _shown = '';
  private _runningChanged = new Signal<this, void>(this);
}

/** Section of the user's own active jobs that can be stopped. */
class JobsManager extends Manager<JobSummary> {
  get name(): string {
    return this.trans.__('Distributed Jobs');
  }

  /** A getter, because JupyterLab 4.2 supports only a string here and reads it when the dialog opens. */
  get shutdownAllConfirmationText(): string {
    const names = this.models().map(job => jobTitle(job));
    return this.trans.__(
      'These jobs of yours will be stopped and lose their progress since the last checkpoint: %1. Checkpoints, event files and logs are kept.',
      listed(names)
    );
  }

  protected models(): JobSummary[] {
    return this.jobs.jobs.filter(
      job => job.mine && isActive(job) && job.actions.includes('stop')
    );
  }

  protected item(job: JobSummary): IRunningSessions.IRunningItem {
    const { id } = job;
    const state = stateOf(job);
    // A paused or resuming job shows no progress, because its processes start again.
    const fraction = hasBar(job) ? job.progress?.fraction : null;
    return {
      className: `jp-t9k-RunningItem jp-t9k-mod-${state}`,
      icon: (): LabIcon => stateIcons[iconStateOf(job)],
      label: () => jobTitle(job),
      labelTitle: () => jobSentence(job, this.trans),
      detail: () =>
        fraction == null
          ? stateWord(state, this.trans)
          : `${wholePercent(fraction)}\u202f%`,
      open: () => void this.commands.execute(CommandIDs.openJob, { id }),
      shutdown: () => void this.commands.execute(CommandIDs.stop, { id })
    };
  }

  protected stop(job: JobSummary): Promise<unknown> {
    return this.jobs.act(job.id, 'stop');
  }
}

/** Section of all TensorBoards. */
class TensorBoardsManager extends Manager<TensorBoard> {
  get name(): string {
    return this.trans.__('TensorBoards');
  }

  get shutdownAllConfirmationText(): string {
    return this.trans.__(
      'All TensorBoards will be stopped. Event files are kept.'
    );
  }

  protected models(): TensorBoard[] {
    return [...this.jobs.tensorboards];
  }

  protected item(board: TensorBoard): IRunningSessions.IRunningItem {
    const { id } = board;
    return {
      className: 'jp-t9k-RunningItem',
      icon: () => tensorBoardIcon,
      label: () => board.label,
      labelTitle: () => board.log_dirs.join('\n'),
      detail: () =>
        board.last_data_at === null
          ? this.trans.__('waiting')
          : this.trans.__(
              'new data %1',
              formatAgo(serverNow() - board.last_data_at, this.trans)
            ),
      open: () =>
        void this.commands.execute(CommandIDs.openTensorBoard, { id }),
      shutdown: () =>
        void this.commands.execute(CommandIDs.stopTensorBoard, { id })
    };
  }

  protected stop(board: TensorBoard): Promise<unknown> {
    return this.jobs.api.stopTensorBoard(board.id);
  }
}
