/** The functions of JupyterLab that the pages of a run and of a comparison use. */
import { Clipboard, InputDialog, Notification } from '@jupyterlab/apputils';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { chooseItems } from '../../shell/chooseItems';
import { notifyError } from '../../shell/notices';
import { CommandIDs } from '../../tokens';
import { addressSearch } from '../address';
import { IExperimentsLab } from '../host';
import { openArtifact, openComparison, openRun } from '../open';
import { confirmRemoval } from '../removal';
import { IRunLab } from './pageLab';

/** Return the lab's functions for a page. */
export function labAround(lab: IExperimentsLab): Omit<IRunLab, 'close'> {
  const { jobs, trans } = lab;
  const { commands } = lab.app;
  return {
    openJob: (id, time) =>
      void commands.execute(CommandIDs.openJob, {
        id,
        ...(time !== undefined && { tab: 'logs', time })
      }),
    openResources: (id, time) =>
      void commands.execute(CommandIDs.openJob, { id, tab: 'resources', time }),
    openRun: id => openRun(commands, id),
    openComparison: ids => openComparison(commands, ids),
    openRuns: filter =>
      void commands.execute(CommandIDs.openExperiments, {
        page: 'runs',
        filter
      }),
    hasArtifacts: lab.hasPage('artifact'),
    openArtifact: id => openArtifact(commands, id),
    openFile: path => void commands.execute('docmanager:open', { path }),
    openTensorBoard: paths =>
      void commands.execute(CommandIDs.openTensorBoard, { paths: [...paths] }),
    logDirs: id => jobs.get(id)?.log_dirs ?? [],
    askText: async (title, label, text) =>
      (await InputDialog.getText({ title, label, text })).value,
    askRuns: (title, names) =>
      chooseItems({
        title,
        label: trans.__('Select one or more runs.'),
        okLabel: trans.__('Compare'),
        items: names.map(name => ({ id: name, content: name }))
      }),
    confirmRemoval: (text, items) => confirmRemoval(text, items, trans),
    copy: (text, done) => {
      Clipboard.copyToSystem(text);
      Notification.success(done, { autoClose: 3000 });
    },
    address: (page, ids) =>
      URLExt.join(
        jobs.api.serverSettings.baseUrl,
        PageConfig.getOption('appUrl') || 'lab'
      ) + addressSearch({ page, ids: [...ids] }),
    notifyError: error => notifyError(error, trans)
  };
}
