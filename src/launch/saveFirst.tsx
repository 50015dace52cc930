/** Dialog about the unsaved changes of a file. */
import { Dialog } from '@jupyterlab/apputils';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Icon } from '../ui/Icon';
import { hintIcon } from '../ui/icons';
import { baseName } from '../common/contentsPath';
import { formatTime } from '../common/format';
import { namedDialog } from '../shell/dialog';

/** The user's choice for unsaved changes. */
export interface ISaveChoice {
  /** Save the file; false runs the version on disk. */
  save: boolean;
  /** Save without asking in the future. */
  always: boolean;
}

/** Ask the user about unsaved changes of a file that a job will read; null if the user cancels. */
export async function askToSave(
  context: DocumentRegistry.Context,
  trans: TranslationBundle
): Promise<ISaveChoice | null> {
  const path = context.localPath;
  const result = await namedDialog({
    title: trans.__('Save %1 first?', baseName(path)),
    body: (
      <div className="jp-t9k-View jp-t9k-Confirm">
        <p>
          <code>{path}</code>{' '}
          {trans.__('has unsaved changes. A job reads the file on disk.')}
        </p>
        <LastSaved context={context} trans={trans} />
      </div>
    ),
    checkbox: {
      label: trans.__('Always save before a job'),
      caption: trans.__('Can be changed in the settings of Distributed Jobs'),
      checked: false
    },
    buttons: [
      Dialog.cancelButton(),
      Dialog.createButton({
        label: trans.__('Run the saved file'),
        accept: false, // style it as a secondary button
        actions: ['keep']
      }),
      Dialog.okButton({
        label: trans.__('Save and continue'),
        actions: ['save']
      })
    ]
  }).launch();
  const [choice] = result.button.actions;
  const save = choice === 'save';
  return choice ? { save, always: save && result.isChecked === true } : null;
}

/** Time at which the file was last saved. */
function LastSaved({
  context,
  trans
}: {
  context: DocumentRegistry.Context;
  trans: TranslationBundle;
}): React.JSX.Element | null {
  const saved = Date.parse(context.contentsModel?.last_modified ?? '') / 1000;
  return Number.isNaN(saved) ? null : (
    <ul className="jp-t9k-Points">
      <li>
        <Icon of={hintIcon} size={16} />
        <span>{trans.__('Last saved: %1.', formatTime(saved, trans))}</span>
      </li>
    </ul>
  );
}
