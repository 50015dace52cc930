import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor } from '@jupyterlab/fileeditor';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { IJobViewLab } from '../components/job/JobView';
import { IMenuItem, openMenu } from '../components/menu';
import { JOB_PANES, JobPane, JobTabModel, JobTabStore } from '../model/jobTab';
import { isActive } from '../model/phase';
import { CommandIDs, IJobs } from '../tokens';
import { loadTranslation } from '../translation';
import { askStream, askTime, JobWidget } from '../widgets/job';

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
    offset: { type: 'number', description: 'Byte offset in that stream' }
  },
  required: ['id']
};

/** One tab for each job: what it is, its replicas, its log. */
export const jobPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab_t9kjob:job',
  description: 'Shows a distributed job in a tab.',
  autoStart: true,
  requires: [IJobs, IEditorServices],
  optional: [ILayoutRestorer, IStateDB, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    jobs: IJobs,
    editors: IEditorServices,
    restorer: ILayoutRestorer | null,
    stateDB: IStateDB | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTranslation(translator);
    const store = new JobTabStore(stateDB);
    const tracker = new WidgetTracker<MainAreaWidget<JobWidget>>({
      namespace: 'jupyterlab_t9kjob-job'
    });

    const open = (id: string): MainAreaWidget<JobWidget> => {
      const model = new JobTabModel(jobs, id, store);
      const lab = labAround(app, editors, id, trans, () => widget.close());
      const widget: MainAreaWidget<JobWidget> = new MainAreaWidget({
        content: new JobWidget(model, lab, trans)
      });
      widget.id = `jupyterlab_t9kjob-job-${id}`;
      widget.node.dataset.jobId = id; // by which commands know what is in front
      widget.toolbar.hide();
      return widget;
    };

    app.commands.addCommand(CommandIDs.openJob, {
      label: trans.__('Open Job'),
      describedBy: { args: ARGS },
      isVisible: args => typeof args.id === 'string',
      execute: async args => {
        const { id, tab, stream, offset } = args;
        if (typeof id !== 'string') {
          return;
        }
        let widget = tracker.find(item => item.content.model.id === id);
        if (!widget) {
          widget = open(id);
          app.shell.add(widget, 'main', { type: 'Distributed Job' });
          await tracker.add(widget);
        }
        app.shell.activateById(widget.id);
        const pane = JOB_PANES.find(known => known === tab) as
          JobPane | undefined;
        if (typeof stream === 'string') {
          const place = { stream, offset: Number(offset ?? 0) };
          await widget.content.model.show('logs', place);
        } else if (pane) {
          await widget.content.model.show(pane);
        }
      }
    });

    void restorer?.restore(tracker, {
      command: CommandIDs.openJob,
      args: widget => ({ id: widget.content.model.id }),
      name: widget => widget.content.model.id
    });
  }
};

/** The lab around one job's tab. */
function labAround(
  app: JupyterFrontEnd,
  editors: IEditorServices,
  id: string,
  trans: TranslationBundle,
  close: () => void
): IJobViewLab {
  const { commands } = app;
  const argsOf = (command: string): { id: string } | { jobId: string } =>
    command === CommandIDs.openTensorBoard ? { jobId: id } : { id };
  const run = (command: string, args?: ReadonlyPartialJSONObject): void => {
    void commands.execute(command, { ...argsOf(command), ...args });
  };
  return {
    editors,
    run,
    close,
    has: command => commands.hasCommand(command),
    openFile: file => void openFile(app, file),
    openFolder: path =>
      void commands.execute('filebrowser:go-to-path', { path }),
    openJob: other => void commands.execute(CommandIDs.openJob, { id: other }),
    askTime: near => askTime(near, trans),
    askStream: ids => askStream(ids, trans),
    kernelTitle: name => {
      const { specs } = app.serviceManager.kernelspecs;
      const key = name ?? specs?.default ?? '';
      return (
        specs?.kernelspecs[key]?.display_name ??
        name ??
        trans.__('the default one')
      );
    },
    download: url => {
      const link = document.createElement('a');
      link.href = url;
      link.download = '';
      link.click();
    },
    // What has no button of its own, and what is too rare for one.
    openMenu: (anchor, job) => {
      const active = isActive(job);
      const groups = [
        active ? [CommandIDs.rerun] : [],
        [CommandIDs.openWorkingDirectory, CommandIDs.openLogDirectory],
        active ? [CommandIDs.deleteJob] : [CommandIDs.remove]
      ].map(group =>
        group
          .filter(
            command =>
              commands.hasCommand(command) &&
              commands.isVisible(command, argsOf(command))
          )
          .map(command => ({
            label: commands.label(command, argsOf(command)),
            disabled: commands.isEnabled(command, argsOf(command))
              ? null
              : (job.read_only ?? trans.__('Not possible now')),
            execute: () => run(command)
          }))
      );
      const items: (IMenuItem | null)[] = groups
        .filter(group => group.length > 0)
        .flatMap((group, index) => (index ? [null, ...group] : group));
      openMenu(anchor, items);
    }
  };
}

async function openFile(
  app: JupyterFrontEnd,
  { path, line }: { path: string; line: number }
): Promise<void> {
  if (path.endsWith('.ipynb')) {
    await app.commands.execute('docmanager:open', { path });
    return; // a line of a cell is no line of the file
  }
  const document = (await app.commands.execute('docmanager:open', {
    path,
    factory: 'Editor'
  })) as IDocumentWidget<FileEditor> | undefined;
  await document?.context.ready;
  const editor = document?.content.editor;
  const position = { line: line - 1, column: 0 };
  editor?.setCursorPosition(position);
  editor?.revealPosition(position);
  editor?.focus();
}
