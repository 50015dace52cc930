/** The form's group “Notebook”: the script that is written from a notebook. */
import * as React from 'react';
import { NotebookInfo } from '../../api/types';
import { useLaunch, useModel } from '../parts/context';
import { Group, IFolding } from '../parts/Group';
import { LinkButton } from '../../ui/Buttons';

/** Group “Notebook”: path of the script, and the lines that only IPython can run. */
export function NotebookGroup({
  notebook,
  folding
}: {
  notebook: NotebookInfo;
  folding: IFolding;
}): React.JSX.Element {
  const { trans, actions } = useLaunch();
  const path = useModel(({ state }) => state.path);
  const { skipped, cells, script_path } = notebook;
  const cellCount = trans._n('%1 code cell', '%1 code cells', cells);
  const skippedCount = trans._n(
    '%1 line is left out',
    '%1 lines are left out',
    skipped.length
  );
  return (
    <Group
      name="notebook"
      title={trans.__('Notebook')}
      summary={() => `${cellCount} · ${skippedCount}`}
      folding={folding}
    >
      <p className="jp-t9k-Launch-note">
        {trans.__('%1 in order, written at submission to', cellCount)}{' '}
        <code>{script_path}</code>
      </p>
      {skipped.length > 0 && (
        <table className="jp-t9k-Launch-skipped">
          <caption>
            {trans.__(
              'Only IPython understands these; they are commented out:'
            )}
          </caption>
          <thead>
            <tr>
              <th scope="col">{trans.__('Cell')}</th>
              <th scope="col">{trans.__('Line')}</th>
              <th scope="col">{trans.__('Text')}</th>
            </tr>
          </thead>
          <tbody>
            {skipped.map(({ cell, line, text }) => (
              <tr key={`${cell}.${line}`}>
                <td>{cell}</td>
                <td>{line}</td>
                <td>
                  <code title={text}>{text}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {path !== null && (
        <LinkButton onClick={() => actions.openFile(path)}>
          {trans.__('Open the notebook')}
        </LinkButton>
      )}
    </Group>
  );
}
