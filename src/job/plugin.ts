/** Plugin of the job tabs: command, restored tabs and log commands. */
import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { jobIcon } from '../ui/icons';
import { JOB_PANES, JobPane } from './model/jobPanes';
import { CommandIDs, IJobsModel } from '../tokens';
import { loadTranslation } from '../common/translation';
import { DeferredWidget } from '../shell/deferred';
import { showTab } from '../shell/showTab';
import { addLogCommands } from './logCommands';
import type { JobWidget } from './widget';
import type { JobPages } from './pages';

const ARGS = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Id of the job' },
    tab: {
      type: 'string',
      enum: JOB_PANES,
      description: 'The part of the job to show'
    },
    stream: { type: 'string', description: 'Log stream to show a place of' },
    offset: { type: 'number', description: 'Byte offset in that stream' },
    view: {
      type: 'string',
      description: 'Filter and search of the log, as in a copied address'
    },
    time: {
      type: 'number',
      description: 'Time to show in the log, in seconds since the epoch'
    }
  },
  required: ['id']
};

/** Options of a job's tab. */
interface IJobTabOptions {
  /** Id of the job. */
  id: string;
  /** Loads the content. */
  load: () => Promise<JobWidget>;
  trans: TranslationBundle;
}

/** Tab of a job. The code of its content is loaded when the first tab opens. */
class JobTab extends DeferredWidget<JobWidget> {
  constructor({ id, ...options }: IJobTabOptions) {
    super(options);
    this.jobId = id;
    this.id = `jupyterlab_t9kjob-job-${id}`;
    this.node.dataset.jobId = id; // commands find the current tab's job by this attribute
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    this.title.label = id.split(':')[2] ?? id;
    this.title.closable = true;
  }

  readonly jobId: string;
}

/** Plugin that shows each job in a tab. */
export const jobPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:job',
  description: 'Shows a distributed job in a tab.',
  autoStart: true,
  requires: [IJobsModel, IEditorServices],
  optional: [ILayoutRestorer, IStateDB, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobsModel,
    editors: IEditorServices,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const tracker = new WidgetTracker<JobTab>({
      namespace: 'jupyterlab_t9kjob-job'
    });

    let pages: JobPages | null = null;
    const open = (id: string): JobTab => {
      const tab = new JobTab({
        id,
        load: async () => {
          const { JobPages } = await import('./pages');
          pages ??= new JobPages({ app, jobs, editors, stateDB, trans });
          return pages.create(id, () => tab.close());
        },
        trans
      });
      void tab.load();
      return tab;
    };

    app.commands.addCommand(CommandIDs.openJob, {
      label: trans.__('Open Job'),
      describedBy: { args: ARGS },
      isVisible: args => typeof args.id === 'string',
      execute: async args => {
        const { id, tab, stream, offset, time, view } = args;
        if (typeof id !== 'string') {
          return;
        }
        let widget = tracker.find(item => item.jobId === id);
        if (!widget) {
          widget = open(id);
          void tracker.add(widget);
        }
        showTab(app.shell, widget);
        const pane = JOB_PANES.find(known => known === tab) as
          JobPane | undefined;
        if (typeof stream === 'string' || typeof view === 'string') {
          const place = {
            ...(typeof stream === 'string' && {
              stream,
              offset: Number(offset ?? 0)
            }),
            ...(typeof view === 'string' && { view })
          };
          await (await widget.loaded)?.model.show('logs', place);
        } else if (typeof time === 'number') {
          const at = pane === 'resources' ? pane : 'logs';
          await (await widget.loaded)?.model.show(at, { time });
        } else if (pane) {
          await (await widget.loaded)?.model.show(pane);
        }
      }
    });

    addLogCommands(
      app.commands,
      () =>
        tracker.currentWidget === app.shell.currentWidget
          ? (tracker.currentWidget?.content?.log ?? null)
          : null,
      trans
    );

    void restorer?.restore(tracker, {
      command: CommandIDs.openJob,
      args: widget => ({ id: widget.jobId }),
      name: widget => widget.jobId
    });
  }
};
