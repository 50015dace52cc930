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
import {
  confirmDelete,
  confirmPause,
  confirmRemove,
  confirmStop
} from './confirm';
import { notifyError } from '../shell/notices';

const JOB_ARGS = {
  type: 'object',
  properties: {
    id: {
      type: 'string',
      description: 'Id of the job; that of the tab in front by default'
    }
  }
} as const;

/** Commands that do something to a job; those that lose something ask first. */
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
      label: trans.__('Refresh Engines and Rights'),
      caption: trans.__(
        'Look again at which engines there are and what you may do in a cluster'
      ),
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

/** Id of the job that a command is about: named, or of the tab in front. */
function idOf(
  app: JupyterFrontEnd,
  args: ReadonlyPartialJSONObject
): string | undefined {
  const id = args.id ?? app.shell.currentWidget?.node.dataset.jobId;
  return typeof id === 'string' ? id : undefined;
}

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
        // Deleting offers to remove as well.
        return job === undefined || action === 'remove'
          ? (job?.deleted ?? true)
          : job.actions.includes(action) || action in job.refused;
      },
      isEnabled: args => {
        const job = listed(args);
        // One that is not in the list, as it was deleted, is asked for when it comes to it.
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
      const choice = await confirmStop(job, trans);
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
      // Nothing is lost before it runs.
      if (job.phase === 'Pending' || (await confirmPause(job, trans))) {
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
      const choice = await confirmDelete(job, await logSize(jobs, job), trans);
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
      if (await confirmRemove(job, await logSize(jobs, job), trans)) {
        await jobs.act(job.id, 'remove');
      }
    }
  );
}

/** Bytes of all logs; null if that can't be told, which must not keep anyone from deleting. */
async function logSize(
  jobs: IJobsModel,
  job: JobSummary
): Promise<number | null> {
  try {
    const streams = await jobs.api.logStreams(job.id);
    return streams.reduce((sum, stream) => sum + stream.size, 0);
  } catch (error) {
    console.warn('t9kjob: sizes of logs:', error);
    return null;
  }
}

function addDirectories(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  trans: TranslationBundle
): void {
  /** Show a directory in the file browser, if it is there. */
  const reveal = async (
    path: string | null | undefined,
    outside: string
  ): Promise<void> => {
    if (path === null || path === undefined) {
      Notification.warning(outside);
      return;
    }
    await app.serviceManager.contents.get(path, { content: false }).then(
      () => app.commands.execute('filebrowser:go-to-path', { path }),
      () =>
        Notification.warning(
          trans.__('The directory does not exist (yet): %1', path)
        )
    );
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
