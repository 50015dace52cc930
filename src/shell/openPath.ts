/** Opens files and directories in the lab, and says so if they are not there. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor } from '@jupyterlab/fileeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import { isMissing } from '../common/missing';
import { notifyError } from './notices';

/** Place in a file. */
export interface IFilePlace {
  /** Path in the contents API. */
  path: string;
  /** Line, from 1; in a notebook, the line of the cell. */
  line: number;
  /** Cell of a notebook, from 1. */
  cell?: number | null;
}

/** Show a directory in the file browser, or a warning if it is not there. */
export async function openFolder(
  app: JupyterFrontEnd,
  path: string,
  trans: TranslationBundle
): Promise<void> {
  const missing = trans.__('The directory does not exist (yet): %1', path);
  if (await isThere(app, path, missing, trans)) {
    await app.commands.execute('filebrowser:go-to-path', { path });
  }
}

/** Open a file at a line, or show a warning if it is not there. */
export async function openFile(
  app: JupyterFrontEnd,
  { path, line, cell }: IFilePlace,
  trans: TranslationBundle
): Promise<void> {
  const missing = trans.__(
    'The file was not found. It may have been moved or deleted: %1',
    path
  );
  if (!(await isThere(app, path, missing, trans))) {
    return;
  }
  if (path.endsWith('.ipynb')) {
    const panel = (await app.commands.execute('docmanager:open', {
      path
    })) as IDocumentWidget | undefined;
    await panel?.context.ready;
    if (panel && cell) {
      const { showCell } = await import('./showCell');
      await showCell(panel, cell, line);
    }
    return;
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

/** Return true if a path exists; otherwise show a warning, or the error that keeps it from being looked at. */
async function isThere(
  app: JupyterFrontEnd,
  path: string,
  missing: string,
  trans: TranslationBundle
): Promise<boolean> {
  try {
    await app.serviceManager.contents.get(path, { content: false });
    return true;
  } catch (error) {
    if (isMissing(error)) {
      Notification.warning(missing);
    } else {
      notifyError(error, trans);
    }
    return false;
  }
}
