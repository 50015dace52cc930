/** Shows notices about jobs in the lab and through the browser. It is loaded with the first notice. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { JobSummary, Notice, Stall } from '../api/types';
import { isMuted } from '../jobs/mutedNotices';
import { stateOf } from '../jobs/phase';
import { endSentence, jobTitle, stallSentence } from '../jobs/sentence';
import { CommandIDs, IJobsModel } from '../tokens';
import { ERROR_STAYS } from '../shell/notices';

/** Duration of the notification of a success, in ms. */
const SUCCESS_STAYS = 10_000;

/** The parts of the lab that show a notice. */
interface INoticeOptions {
  app: JupyterFrontEnd;
  jobs: IJobsModel;
  /** The user's settings; undefined if they can't be read. */
  settings: ISettingRegistry.ISettings | undefined;
  trans: TranslationBundle;
}

/** Show a notice where the settings want it, unless the job's tab is visible. */
export function showNotice(
  notice: Notice,
  { app, jobs, settings, trans }: INoticeOptions
): void {
  const job = notice.job === null ? undefined : jobs.get(notice.job);
  if (job && isInView(app, job.id)) {
    return;
  }
  const wanted = wantedPlaces(notice.kind, settings);
  if (wanted.lab) {
    notify(app.commands, notice, job, trans);
  }
  if (wanted.browser && document.visibilityState === 'hidden') {
    showInBrowser(app.commands, notice, trans);
  }
}

/** Return where the settings want a notice of a kind; notices of undelivered messages are always shown in the lab. */
function wantedPlaces(
  kind: Notice['kind'],
  settings: ISettingRegistry.ISettings | undefined
): { lab: boolean; browser: boolean } {
  const has = (name: string, otherwise: boolean): boolean => {
    const kinds = settings?.get(name).composite;
    return Array.isArray(kinds) ? kinds.includes(kind) : otherwise;
  };
  return {
    lab:
      kind === 'undelivered' ||
      (has('notifyInLab', true) && !isMuted(kind, settings)),
    browser: has('notifyInBrowser', false)
  };
}

/** Show a notice in the notification area of the lab. */
function notify(
  commands: CommandRegistry,
  notice: Notice,
  job: JobSummary | undefined,
  trans: TranslationBundle
): void {
  if (job && /^(failed|succeeded)/.test(notice.kind)) {
    notifyEnded(commands, job, trans);
  } else if (job?.stalled) {
    notifyStalled(commands, job, job.stalled, trans);
  } else {
    const { title, text } = notice;
    const message = text === null ? title : trans.__('%1: %2', title, text);
    const id = job?.id;
    Notification.info(message, {
      autoClose: ERROR_STAYS,
      actions:
        id === undefined
          ? []
          : [
              {
                label: trans.__('Open job'),
                callback: () =>
                  void commands.execute(CommandIDs.openJob, { id })
              }
            ]
    });
  }
}

/** Show a notice through the browser, if the user has allowed that. A click shows the lab with the job. */
function showInBrowser(
  commands: CommandRegistry,
  { id, title, text, job }: Notice,
  trans: TranslationBundle
): void {
  const { Notification: BrowserNotification } = window;
  if (BrowserNotification?.permission !== 'granted') {
    return;
  }
  // Several tabs of the lab show one notification, since they give the same tag.
  const shown = new BrowserNotification(title, {
    body: text ?? trans.__('Distributed Jobs'),
    tag: `t9kjob-${id}`
  });
  shown.onclick = () => {
    window.focus();
    if (job !== null) {
      void commands.execute(CommandIDs.openJob, { id: job });
    }
  };
}

/** Return true if a job's tab is visible, also beside the current tab; the tab shows that the job has ended. */
function isInView({ shell }: JupyterFrontEnd, id: string): boolean {
  return [...shell.widgets('main')].some(
    widget => widget.isVisible && widget.node.dataset.jobId === id
  );
}

/** Show the notification of a job that has ended, with buttons for the next steps. */
function notifyEnded(
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
