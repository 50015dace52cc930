/** Dialogs about manifests. */
import { Dialog, ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ApiError } from '../api/errors';
import { Check } from '../api/types';
import { Confirm, IConsequence } from '../ui/Confirm';
import { namedDialog } from '../shell/dialog';
import '../../style/pages.css';
import { sentences } from '../common/format';

/**
 * Ask the user to confirm that the form loses parts of a manifest that it can't represent.
 *
 * @param lost - The parts that will be lost.
 */
export async function confirmLoss(
  lost: readonly Check[],
  trans: TranslationBundle
): Promise<boolean> {
  const consequences = lost.map(({ message, hint }): IConsequence => ({
    kind: 'lost',
    text: sentences([message, hint])
  }));
  const { button } = await namedDialog({
    title: trans.__('Go back to the form?'),
    body: (
      <Confirm
        says={trans.__('The form can’t represent the whole manifest.')}
        consequences={consequences}
        titles={{ lost: trans.__('Will be lost:'), kept: '' }}
      />
    ),
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Back to form') })
    ],
    defaultButton: 0
  }).launch();
  return button.accept;
}

/**
 * Ask the user to confirm that an unreadable edited manifest is discarded.
 *
 * @param problem - The error that the server reports for the manifest.
 */
export async function confirmDiscard(
  problem: ApiError,
  trans: TranslationBundle
): Promise<boolean> {
  const { button } = await namedDialog({
    title: trans.__('Discard the changes?'),
    body: (
      <Confirm
        says={trans.__('The manifest can’t be read: %1', problem.message)}
        consequences={[
          {
            kind: 'lost',
            text: trans.__('The changes in the manifest.')
          },
          {
            kind: 'kept',
            text: trans.__('The form as it was before.')
          }
        ]}
      />
    ),
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Discard') })
    ],
    defaultButton: 0
  }).launch();
  return button.accept;
}

/**
 * Let the user paste a manifest; null if the user cancels or the text is empty.
 *
 * @param text - A manifest to be corrected; empty by default.
 */
export async function askForManifest(
  trans: TranslationBundle,
  text = ''
): Promise<string | null> {
  const body = new ManifestInput(text, trans);
  const { button } = await namedDialog({
    title: trans.__('Paste a manifest'),
    body,
    buttons: [
      Dialog.cancelButton(),
      Dialog.okButton({ label: trans.__('Open') })
    ],
    focusNodeSelector: 'textarea'
  }).launch();
  return button.accept && body.text.trim() ? body.text : null;
}

/** Body of the dialog: a text area. */
class ManifestInput extends ReactWidget {
  constructor(
    public text: string,
    private readonly _trans: TranslationBundle
  ) {
    super();
  }

  protected override render(): React.JSX.Element {
    const trans = this._trans;
    return (
      <div className="jp-t9k-View jp-t9k-Confirm jp-t9k-mod-wide">
        <p id="jp-t9k-manifest-help">
          {trans.__(
            'A PyTorchTrainingJob, PyTorchJob, TrainJob, JobSet or Indexed Job of Kubernetes, as YAML or JSON. Nothing is created before you submit the form.'
          )}
        </p>
        <textarea
          className="jp-t9k-ManifestInput"
          aria-label={trans.__('Manifest')}
          aria-describedby="jp-t9k-manifest-help"
          spellCheck={false}
          rows={15} // The dialog has room for so many below a text of three lines.
          defaultValue={this.text}
          onChange={event => {
            this.text = event.target.value;
          }}
          // Keep Enter in the text area: the dialog would take it for its main button.
          onKeyDown={event => {
            if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
              event.stopPropagation();
            }
          }}
        />
      </div>
    );
  }
}
