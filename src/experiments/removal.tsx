/** Dialog before runs or artifacts are deleted. */
import { Dialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatBytes, formatCount } from '../common/format';
import { namedDialog } from '../shell/dialog';
import { Confirm, IConsequence } from '../ui/Confirm';
import { RemovalItem } from '../api/types';

/** Longest list of folders that the dialog names; the rest is counted. */
const MOST_NAMED = 12;

/**
 * Ask the user to confirm that folders are deleted. The dialog lists them with their sizes.
 *
 * @param text - Title of the dialog, and a sentence about the deletion.
 * @param items - The folders.
 */
export async function confirmRemoval(
  text: { title: string; says: string },
  items: readonly RemovalItem[],
  trans: TranslationBundle
): Promise<boolean> {
  const foreign = items.filter(({ ours }) => !ours).length;
  const consequences: IConsequence[] = items
    .slice(0, MOST_NAMED)
    .map(item => ({ kind: 'lost', text: itemText(item, trans) }));
  const more = items.length - consequences.length;
  if (more > 0) {
    const text = trans._n('%1 more folder', '%1 more folders', more);
    consequences.push({ kind: 'lost', text });
  }
  if (foreign > 0) {
    const text = trans._n(
      '%1 folder was written by another program.',
      '%1 folders were written by other programs.',
      foreign
    );
    consequences.push({ kind: 'hint', text });
  }
  const { button } = await namedDialog({
    title: text.title,
    body: <Confirm says={text.says} consequences={consequences} />,
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Delete') })
    ],
    defaultButton: 0
  }).launch();
  return button.accept;
}

function itemText(item: RemovalItem, trans: TranslationBundle): string {
  const files = trans._n(
    '%2 file',
    '%2 files',
    item.files,
    formatCount(item.files)
  );
  return trans.__('%1: %2, %3', item.path, files, formatBytes(item.size));
}
