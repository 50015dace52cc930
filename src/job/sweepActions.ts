/** Commands that act on all jobs of a sweep; loaded with the sidebar, whose menu has them. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { JobSummary } from '../api/types';
import { CommandIDs, IJobsModel } from '../tokens';

const SWEEP_ARGS = {
  type: 'object',
  properties: { id: { type: 'string', description: 'Id of the sweep' } },
  required: ['id']
} as const;

/** Add the commands that compare, stop, retry and delete the jobs of a sweep. A dialog confirms commands that lose data. */
export function addSweepActions(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  trans: TranslationBundle
): void {
  const { commands } = app;
  if (commands.hasCommand(CommandIDs.stopSweep)) {
    return; // an earlier sidebar of this page added them
  }
  const membersOf = (args: ReadonlyPartialJSONObject): JobSummary[] =>
    jobs.jobs.filter(({ sweep }) => sweep !== null && sweep.id === args.id);
  const add = (
    command: string,
    label: string,
    isEnabled: (job: JobSummary) => boolean,
    change: 'stop' | 'retry' | 'delete'
  ): void => {
    commands.addCommand(command, {
      label,
      describedBy: { args: SWEEP_ARGS },
      isEnabled: args => membersOf(args).some(isEnabled),
      execute: async args => {
        const { changeSweep } = await import('./sweepChanges');
        await changeSweep(
          change,
          String(args.id),
          membersOf(args),
          jobs.api,
          trans
        );
      }
    });
  };
  commands.addCommand(CommandIDs.compareSweep, {
    label: trans.__('Compare Jobs of the Sweep'),
    describedBy: { args: SWEEP_ARGS },
    execute: args =>
      commands.execute(CommandIDs.openAllJobs, {
        page: 'sweep',
        ids: [String(args.id)]
      })
  });
  commands.addCommand(CommandIDs.compareSweepJobs, {
    label: trans.__('Compare Curves of the Sweep'),
    describedBy: { args: SWEEP_ARGS },
    execute: args =>
      commands.execute(CommandIDs.openAllJobs, {
        page: 'compare',
        ids: membersOf(args).map(({ id }) => id)
      })
  });
  add(
    CommandIDs.stopSweep,
    trans.__('Stop All Jobs of the Sweep…'),
    job => job.actions.includes('stop'),
    'stop'
  );
  add(
    CommandIDs.retrySweep,
    trans.__('Retry Failed Jobs of the Sweep'),
    job => job.phase === 'Failed',
    'retry'
  );
  add(
    CommandIDs.deleteSweep,
    trans.__('Delete All Jobs of the Sweep…'),
    job => job.actions.includes('delete'),
    'delete'
  );
}
