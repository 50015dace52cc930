/** Plugin of the commands that act on jobs. */
import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Action } from '../api/aliases';
import { JobSummary } from '../api/types';
import { canAsk } from '../jobs/phase';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { notifyError } from '../shell/notices';

/** Return the dialogs, which are loaded when the first one opens. */
const dialogs = () => import('./confirm');

const JOB_ARGS = {
  type: 'object',
  properties: {
    id: {
      type: 'string',
      description: 'Id of the job; that of the tab in front by default'
    }
  }
} as const;

/** Plugin of the commands that act on jobs. A dialog confirms commands that lose data. */
export const actionsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:actions',
  description: 'Commands that stop, pause, resume, repeat and delete jobs.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    addActions(app, jobs, trans);
    addDirectories(app, jobs, trans);
    app.commands.addCommand(CommandIDs.refresh, {
      label: trans.__('Refresh Engines and Permissions'),
      caption: trans.__('Detect the engines and your permissions again'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => {
        try {
          await jobs.api.refreshEngines();
        } catch (error) {
          notifyError(error, trans);
        }
      }
    });
    const category = trans.__('Distributed Jobs');
    for (const command of [
      CommandIDs.stop,
      CommandIDs.pause,
      CommandIDs.resume,
      CommandIDs.rerun,
      CommandIDs.deleteJob,
      CommandIDs.refresh,
      CommandIDs.openWorkingDirectory,
      CommandIDs.openLogDirectory
    ]) {
      palette?.addItem({ command, category });
    }
  }
};

/** Return the id of a command's job: its argument, or the job of the current tab. */
function idOf(
  app: JupyterFrontEnd,
  args: ReadonlyPartialJSONObject
): string | undefined {
  const id = args.id ?? app.shell.currentWidget?.node.dataset.jobId;
  return typeof id === 'string' ? id : undefined;
}

/** Add the commands that stop, pause, resume, repeat, delete and remove a job. */
function addActions(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  trans: TranslationBundle
): void {
  const listed = (args: ReadonlyPartialJSONObject): JobSummary | undefined =>
    jobs.get(idOf(app, args) ?? '');
  const add = (
    command: string,
    action: Action,
    labels: { menu: string; palette: string },
    execute: (job: JobSummary) => Promise<void>
  ): void => {
    app.commands.addCommand(command, {
      label: args => (args.id === undefined ? labels.palette : labels.menu),
      caption: args => {
        const job = listed(args);
        return job?.read_only ?? job?.refused[action] ?? '';
      },
      describedBy: { args: JOB_ARGS },
      isVisible: args => {
        const job = listed(args);
        if (job === undefined) {
          return true;
        }
        // “Delete…” can also remove the record, so “Remove…” is shown only for jobs that can't be deleted (any more).
        return action === 'remove'
          ? job.deleted ||
              (job.actions.includes('remove') &&
                !job.actions.includes('delete'))
          : job.actions.includes(action) || action in job.refused;
      },
      isEnabled: args => {
        const job = listed(args);
        // A deleted job is not in the list. Its record is requested when the command runs.
        return job ? canAsk(job, action) : args.id !== undefined;
      },
      execute: async args => {
        const id = idOf(app, args);
        if (id === undefined) {
          return;
        }
        try {
          await execute(jobs.get(id) ?? (await jobs.api.job(id)));
        } catch (error) {
          notifyError(error, trans);
        }
      }
    });
  };

  add(
    CommandIDs.stop,
    'stop',
    { menu: trans.__('Stop…'), palette: trans.__('Stop Job…') },
    async job => {
      const choice = await (await dialogs()).confirmStop(job, trans);
      if (choice) {
        await jobs.act(job.id, choice);
      }
    }
  );
  add(
    CommandIDs.pause,
    'pause',
    { menu: trans.__('Pause…'), palette: trans.__('Pause Job…') },
    async job => {
      // A job that has not started loses nothing.
      if (
        job.phase === 'Pending' ||
        (await (await dialogs()).confirmPause(job, trans))
      ) {
        await jobs.act(job.id, 'pause');
      }
    }
  );
  add(
    CommandIDs.resume,
    'resume',
    { menu: trans.__('Resume'), palette: trans.__('Resume Job') },
    async job => {
      await jobs.act(job.id, 'resume');
    }
  );
  add(
    CommandIDs.rerun,
    'rerun',
    { menu: trans.__('Run Again'), palette: trans.__('Run Job Again') },
    async job => {
      const again = await jobs.act(job.id, 'rerun');
      if (again) {
        await app.commands.execute(CommandIDs.openJob, { id: again.id });
      }
    }
  );
  add(
    CommandIDs.deleteJob,
    'delete',
    { menu: trans.__('Delete…'), palette: trans.__('Delete Job…') },
    async job => {
      const choice = await (await dialogs()).confirmDelete(job, jobs, trans);
      if (choice) {
        await jobs.act(job.id, 'delete', choice);
      }
    }
  );
  add(
    CommandIDs.remove,
    'remove',
    {
      menu: trans.__('Remove Record and Logs…'),
      palette: trans.__('Remove Record and Logs of Job…')
    },
    async job => {
      if (await (await dialogs()).confirmRemove(job, jobs, trans)) {
        await jobs.act(job.id, 'remove');
      }
    }
  );
}

/** Add the commands that show a job's directories in the file browser. */
function addDirectories(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  trans: TranslationBundle
): void {
  /**
   * Show a directory in the file browser, or a warning if it does not exist.
   *
   * @param path - Path in the contents API; null if the file browser can't show the directory.
   * @param outside - Warning for a directory without a path.
   */
  const reveal = async (
    path: string | null | undefined,
    outside: string
  ): Promise<void> => {
    if (path === null || path === undefined) {
      Notification.warning(outside);
      return;
    }
    const { openFolder } = await import('../shell/openPath');
    await openFolder(app, path, trans);
  };
  const add = (
    command: string,
    label: string,
    execute: (id: string) => Promise<void>,
    has: (job: JobSummary) => boolean = () => true
  ): void => {
    app.commands.addCommand(command, {
      label,
      describedBy: { args: JOB_ARGS },
      isVisible: args => {
        const job = jobs.get(idOf(app, args) ?? '');
        return job === undefined || has(job);
      },
      isEnabled: args =>
        idOf(app, args) !== undefined &&
        app.commands.hasCommand('filebrowser:go-to-path'),
      execute: async args => {
        const id = idOf(app, args);
        try {
          await (id !== undefined && execute(id));
        } catch (error) {
          notifyError(error, trans);
        }
      }
    });
  };
  const cannot = (directory: string | null | undefined): string =>
    directory
      ? trans.__('The file browser does not reach %1.', directory)
      : trans.__('The job has no such directory.');

  add(
    CommandIDs.openWorkingDirectory,
    trans.__('Open Working Directory'),
    async id => {
      const job = await jobs.api.job(id);
      await reveal(job.working_dir_path, cannot(job.working_dir));
    }
  );
  add(
    CommandIDs.openLogDirectory,
    trans.__('Open Log Directory'),
    async id => {
      const job = await jobs.api.job(id);
      await reveal(job.log_dir_paths[0], cannot(job.log_dirs[0]));
    },
    job => job.log_dirs.length > 0
  );
}
