/** Plugin that shows a notification when a job ends, and when it makes no progress. */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { JobSummary, Stall } from '../api/types';
import { stateOf } from '../jobs/phase';
import { endSentence, jobTitle, stallSentence } from '../jobs/sentence';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { ERROR_STAYS } from '../shell/notices';

/** How long the notification of a success is shown, in ms. */
const SUCCESS_STAYS = 10_000;

/** Shows a notification when a job of the user ends, unless the job's tab is visible. */
export const notificationsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:notifications',
  description: 'Notifies when a distributed job ends.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [ISettingRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    registry: ISettingRegistry | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const settings = registry
      ?.load('jupyterlab_t9kjob:plugin')
      .catch((error: unknown) => {
        // Without settings, use their defaults.
        console.warn('t9kjob: settings:', error);
        return undefined;
      });
    jobs.ended.connect(async (_, job) => {
      const wanted = (await settings)?.get('notifyWhenEnded').composite;
      if (wanted !== false && job.mine && !isInView(app, job.id)) {
        notify(app.commands, job, trans);
      }
    });
    jobs.stalled.connect(async (_, job) => {
      const wanted = (await settings)?.get('notifyWhenStuck').composite;
      if (
        wanted !== false &&
        job.mine &&
        job.stalled &&
        !isInView(app, job.id)
      ) {
        notifyStalled(app.commands, job, job.stalled, trans);
      }
    });
  }
};

/** Return true if a job's tab is visible, also beside the current tab; the tab shows that the job has ended. */
function isInView({ shell }: JupyterFrontEnd, id: string): boolean {
  return [...shell.widgets('main')].some(
    widget => widget.isVisible && widget.node.dataset.jobId === id
  );
}

/** Show the notification of a job that has ended, with buttons for the next steps. */
function notify(
  commands: CommandRegistry,
  job: JobSummary,
  trans: TranslationBundle
): void {
  const { id } = job;
  const sentence = endSentence(job, trans);
  const action = (
    label: string,
    command: string,
    args: { [name: string]: string | number }
  ): Notification.IAction => ({
    label,
    callback: () => void commands.execute(command, args)
  });
  const openLog = action(trans.__('Open log'), CommandIDs.openJob, {
    id,
    tab: 'logs',
    ...whereItFailed(job)
  });
  switch (stateOf(job)) {
    case 'succeeded': {
      const actions = [openLog];
      if (job.log_dirs.length) {
        actions.push(
          action(trans.__('TensorBoard'), CommandIDs.openTensorBoard, {
            jobId: id
          })
        );
      }
      Notification.success(sentence, {
        autoClose: SUCCESS_STAYS,
        actions
      });
      break;
    }
    case 'failed':
      Notification.error(sentence, {
        autoClose: ERROR_STAYS,
        actions: [openLog, action(trans.__('Clone…'), CommandIDs.clone, { id })]
      });
      break;
    default:
    // A job that a user stopped gets no notification.
  }
}

/** Show the notification of a job that makes no progress. */
function notifyStalled(
  commands: CommandRegistry,
  job: JobSummary,
  stall: Stall,
  trans: TranslationBundle
): void {
  const { id } = job;
  const sentence = stallSentence(stall, trans);
  Notification.warning(trans.__('%1: %2', jobTitle(job), sentence), {
    autoClose: false,
    actions: [
      {
        label: trans.__('Open log'),
        callback: () =>
          void commands.execute(CommandIDs.openJob, { id, tab: 'logs' })
      }
    ]
  });
}

/** Return the position in the log that the job's reason links to, as arguments of the command `openJob`. */
function whereItFailed(job: JobSummary): { [name: string]: string | number } {
  const link = job.reason?.links.find(({ kind }) => kind === 'log');
  return link?.stream && link.offset !== null
    ? { stream: link.stream, offset: link.offset }
    : {};
}
