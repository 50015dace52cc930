import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { JobSummary } from '../api/types';
import { stateOf } from '../jobs/phase';
import { endSentence } from '../jobs/sentence';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { ERROR_STAYS } from '../shell/notices';

/** How long the news of a success stays, in ms. */
const SUCCESS_STAYS = 10_000;

/** Tells when a job ends. */
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
        // Without its settings it does what they say by default.
        console.warn('t9kjob: settings:', error);
        return undefined;
      });
    jobs.ended.connect(async (_, job) => {
      const wanted = (await settings)?.get('notifyWhenEnded').composite;
      if (wanted !== false && job.mine && !isInView(app, job.id)) {
        notify(app.commands, job, trans);
      }
    });
  }
};

/** Whether a job's tab is in view, also beside that in front: it is told there. */
function isInView({ shell }: JupyterFrontEnd, id: string): boolean {
  return [...shell.widgets('main')].some(
    widget => widget.isVisible && widget.node.dataset.jobId === id
  );
}

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
    // Who stopped a job knows it.
  }
}

/** The position in the log that the reason points to. */
function whereItFailed(job: JobSummary): { [name: string]: string | number } {
  const link = job.reason?.links.find(({ kind }) => kind === 'log');
  return link?.stream && link.offset !== null
    ? { stream: link.stream, offset: link.offset }
    : {};
}
