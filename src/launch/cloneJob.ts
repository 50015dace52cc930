/** Command that opens the launch form with the spec of a job. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { TranslationBundle } from '@jupyterlab/translation';
import { Fix } from '../api/types';
import { IClone } from './model/state';
import { CommandIDs, IJobsModel } from '../tokens';
import { notifyError } from '../shell/notices';

/** Add the command that clones a job. Its argument `fix` is a change of the spec, as the server offers it. */
export function addCloneCommand(
  app: JupyterFrontEnd,
  jobs: IJobsModel,
  tabs: { open(path: string | null, beginning: { clone: IClone }): void },
  trans: TranslationBundle
): void {
  app.commands.addCommand(CommandIDs.clone, {
    label: trans.__('Clone…'),
    caption: trans.__('Start the form from this job'),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'Id of the job' },
          fix: {
            type: 'object',
            description:
              'A change of the spec: its label, and values by pointer'
          }
        },
        required: ['id']
      }
    },
    isEnabled: args => typeof args.id === 'string',
    execute: async args => {
      try {
        const id = String(args.id);
        const { specWith, valuesAt } = await import('./content/specChanges');
        const job = await jobs.api.job(id);
        const { engine, namespace } = job;
        const fix = args.fix as Fix | undefined;
        const spec = fix ? specWith(job.spec, fix.changes) : job.spec;
        const was = fix && valuesAt(job.spec, Object.keys(fix.changes));
        const name = job.display_name ?? job.name;
        const clone = {
          ...{ id, name, spec, engine, namespace, was },
          fix: fix?.label
        };
        tabs.open(job.entrypoint_path, { clone });
      } catch (error) {
        notifyError(error, trans);
      }
    }
  });
}
