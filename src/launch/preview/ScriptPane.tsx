/** Preview of the script that is made from a notebook, with the boundaries of its cells. */
import * as React from 'react';
import {
  NOTEBOOK_CELLS_OPTION,
  NOTEBOOK_INSTALL_OPTION
} from '../../api/constants';
import { NotebookInfo } from '../../api/types';
import { LinkButton } from '../../ui/Buttons';
import { composeArgs } from '../content/args/composeArgs';
import { isNotebookOption, runningCells } from '../content/notebookCells';
import { useLaunch, useModel } from '../parts/context';

/** The code of the cells that run, one section per cell. */
export function ScriptPane({
  notebook
}: {
  notebook: NotebookInfo;
}): React.JSX.Element {
  const { trans, prefix, actions } = useLaunch();
  const path = useModel(({ state }) => state.path);
  const values = useModel(({ form }) => form.values);
  const options = useModel(model => model.scriptOptions);
  const running = runningCells(
    notebook.cells,
    values[NOTEBOOK_CELLS_OPTION] ?? null
  );
  const cells = notebook.cells.filter(({ key }) => running.has(key));
  const parameters = composeArgs(
    options.filter(option => !isNotebookOption(option)),
    values,
    []
  ).args;
  const isInstalled = values[NOTEBOOK_INSTALL_OPTION] !== false;
  return (
    <div
      className="jp-t9k-Launch-script"
      tabIndex={0}
      role="group"
      aria-label={trans.__('Script')}
    >
      {notebook.installs.length > 0 && (
        <p className="jp-t9k-Launch-scriptStep">
          <b>{trans.__('Install step')}</b>{' '}
          {isInstalled ? (
            <code>{notebook.installs.join('; ')}</code>
          ) : (
            trans.__('left out')
          )}
        </p>
      )}
      {cells.map(({ key, number, code, note, mark }) => (
        <section key={key} aria-labelledby={`${prefix}script-cell-${number}`}>
          <h4 id={`${prefix}script-cell-${number}`}>
            <LinkButton
              disabled={path === null}
              onClick={() => path && actions.openFile(path, 1, number)}
            >
              {trans.__('Cell %1', number)}
            </LinkButton>{' '}
            <span className="jp-t9k-caption">{note}</span>
          </h4>
          {code === null ? (
            <p className="jp-t9k-caption">
              {mark === 'question'
                ? trans.__('A job can’t run this cell.')
                : trans.__('The code is not shown.')}
            </p>
          ) : (
            <pre>{code}</pre>
          )}
          {number === notebook.parameters_cell && parameters.length > 0 && (
            <p className="jp-t9k-Launch-scriptStep" data-edited>
              <b>{trans.__('Set by the form')}</b>{' '}
              <code>{parameters.join(' ')}</code>
            </p>
          )}
        </section>
      ))}
    </div>
  );
}
