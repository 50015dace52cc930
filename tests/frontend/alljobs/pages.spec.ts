/** The tab that compares the jobs of a sweep, as it comes back after a reload of the page. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { allJobsPlugin } from '../../../src/alljobs/plugin';
import { addSweepActions } from '../../../src/job/sweepActions';
import { JobSummary } from '../../../src/api/types';
import { CommandIDs, IJobsModel } from '../../../src/tokens';
import { DeferredWidget } from '../../../src/shell/deferred';
import { Widget } from '@lumino/widgets';
import { someJob } from '../fakes';

it('restores the comparison of a sweep, which gets its name with the jobs', async () => {
  const sweep = { id: 's1', name: 'wait', number: 1, round: 0, values: {} };
  const list: JobSummary[] = [];
  const jobs = {
    jobs: list,
    api: { getSweepResults: () => Promise.resolve({ metrics: {} }) }
  } as unknown as IJobsModel;
  const changed = new Signal<IJobsModel, void>(jobs);
  Object.assign(jobs, { changed });
  const opened: DeferredWidget<Widget>[] = [];
  const app = {
    commands: new CommandRegistry(),
    shell: {
      add: (tab: DeferredWidget<Widget>) => opened.push(tab),
      activateById: () => undefined
    }
  } as unknown as JupyterFrontEnd;
  const restore = jest.fn<
    Promise<void>,
    [unknown, { args: (tab: Widget) => object }]
  >(() => Promise.resolve());
  const none = [null, null, null, null];
  await allJobsPlugin.activate(app, jobs, { restore }, ...none, null);
  addSweepActions(app, jobs, nullTranslator.load(''));

  await app.commands.execute(CommandIDs.compareSweep, { id: 's1' });
  const [tab] = opened;
  await tab.loaded;
  expect(tab.title.label).toBe('Sweep s1');
  list.push(someJob({ sweep: sweep as unknown as JobSummary['sweep'] }));
  changed.emit();
  expect(tab.title.label).toBe('Sweep wait');

  const args = restore.mock.calls[0][1].args(tab);
  expect(args).toEqual({ page: 'sweep', ids: ['s1'] });
  tab.dispose();
  await app.commands.execute(CommandIDs.openAllJobs, { ...args });
  await opened[1].loaded;
  expect(opened[1].title.label).toBe('Sweep wait');
  opened[1].dispose();
});
