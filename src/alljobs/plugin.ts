/** Plugin of the tabs about all jobs. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { loadTranslation } from '../common/translation';
import { DeferredWidget } from '../shell/deferred';
import { showTab } from '../shell/showTab';
import { CommandIDs, IJobsModel } from '../tokens';
import { jobIcon } from '../ui/icons';
import type { IAllJobsPlace } from './pages';

type Tab = DeferredWidget<Widget>;

const ARGS = {
  type: 'object',
  properties: { page: { type: 'string' }, ids: { type: 'array' } }
};

/** Adds the command that opens the table of all jobs and its pages, and restores their tabs. */
export const allJobsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:all-jobs',
  description: 'Shows all distributed jobs in a table.',
  autoStart: true,
  requires: [IJobsModel],
  optional: [
    ILayoutRestorer,
    IStateDB,
    ICommandPalette,
    ILauncher,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tracker = new WidgetTracker<Tab>({ namespace: 't9kjob-all-jobs' });
    const places = new WeakMap<Widget, IAllJobsPlace>();

    const create = (id: string, place: IAllJobsPlace): Tab => {
      const tab: Tab = new DeferredWidget<Widget>({
        load: async () => {
          const { createPage } = await import('./pages');
          return createPage(place, { app, jobs, stateDB, trans });
        },
        trans
      });
      tab.id = id;
      tab.node.tabIndex = -1;
      tab.title.icon = jobIcon;
      tab.title.label = trans.__('All jobs');
      tab.title.closable = true;
      places.set(tab, place);
      void tab.load();
      void tracker.add(tab);
      return tab;
    };

    const command = CommandIDs.openAllJobs;
    app.commands.addCommand(command, {
      label: ({ page }) =>
        page === 'compare' ? trans.__('Compare With…') : trans.__('All Jobs'),
      caption: trans.__('Show all distributed jobs in a table'),
      icon: ({ page }) => (page === 'compare' ? undefined : jobIcon),
      describedBy: { args: ARGS },
      execute: async args => {
        const known = Array.isArray(args.ids) ? args.ids.map(String) : [];
        const page = String(args.page ?? 'table');
        let ids = known;
        if (page === 'compare' && known.length === 1) {
          const { askJobs } = await import('./compare/ask');
          const more = await askJobs(jobs, known, trans);
          if (!more?.length) {
            return;
          }
          ids = [...known, ...more];
        }
        const place = { page, ids };
        const id = ['t9kjob-all-jobs', place.page, ...ids].join('-');
        const tab = tracker.find(each => each.id === id) ?? create(id, place);
        showTab(app.shell, tab, 'Distributed Jobs');
      }
    });
    const category = trans.__('Distributed Jobs');
    palette?.addItem({ command, category });
    launcher?.add({ command, category, rank: 3 });
    void restorer?.restore(tracker, {
      command,
      args: tab => ({ ...places.get(tab) }),
      name: tab => tab.id
    });
  }
};
