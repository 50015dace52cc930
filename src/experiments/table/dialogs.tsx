/** Dialogs of the table: tags and notes, names of views, deletion. */
import { Dialog, InputDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatBytes, formatCount } from '../../common/format';
import { namedDialog } from '../../shell/dialog';
import { Confirm, IConsequence } from '../../ui/Confirm';
import { IRemovalItem } from '../client';
import { IRunRow } from '../types';

/** Longest list of folders that the dialog names; the rest is counted. */
const MOST_NAMED = 12;

/** Limits of the server. */
const LONGEST_TAG = 100;
const MOST_TAGS = 50;

/** Let the user edit the tags of runs. Null if the user cancels. */
export async function askTags(
  runs: readonly IRunRow[],
  trans: TranslationBundle
): Promise<string[] | null> {
  const [first] = runs;
  const common = first.tags.filter(tag =>
    runs.every(({ tags }) => tags.includes(tag))
  );
  const { button, value } = await InputDialog.getText({
    title:
      runs.length === 1
        ? trans.__('Tags of %1', first.name)
        : trans._n('Tags of %1 run', 'Tags of %1 runs', runs.length),
    label: trans.__('Tags, separated by commas'),
    text: common.join(', '),
    okLabel: trans.__('Save')
  });
  return button.accept ? tagsOf(value ?? '') : null;
}

/** Return the tags of a text that are separated by commas. */
export function tagsOf(text: string): string[] {
  const tags = text.split(',').map(tag => tag.trim().slice(0, LONGEST_TAG));
  return [...new Set(tags.filter(Boolean))].slice(0, MOST_TAGS);
}

/**
 * Return the tags of a run after an edit of several runs: tags that all runs had are replaced, others stay.
 *
 * @param all - The edited runs.
 */
export function mergedTags(
  run: IRunRow,
  all: readonly IRunRow[],
  edited: readonly string[]
): string[] {
  const own = run.tags.filter(
    tag => !all.every(({ tags }) => tags.includes(tag))
  );
  return [...new Set([...own, ...edited])];
}

/** Let the user edit the note of a run. Null if the user cancels. */
export async function askNote(
  run: IRunRow,
  trans: TranslationBundle
): Promise<string | null> {
  const { button, value } = await InputDialog.getText({
    title: trans.__('Note on %1', run.name),
    label: trans.__('Note'),
    text: run.note,
    okLabel: trans.__('Save')
  });
  return button.accept ? (value ?? '').trim() : null;
}

/** Let the user name a view. Null if the user cancels. */
export async function askViewName(
  name: string,
  trans: TranslationBundle
): Promise<string | null> {
  const { button, value } = await InputDialog.getText({
    title: trans.__('Save the view'),
    label: trans.__('Name'),
    text: name,
    okLabel: trans.__('Save')
  });
  return button.accept ? (value ?? '').trim().slice(0, LONGEST_TAG) : null;
}

/** Ask the user to confirm that folders are deleted. The dialog lists them with their sizes. */
export async function confirmRemoval(
  runs: readonly IRunRow[],
  items: readonly IRemovalItem[],
  size: number,
  trans: TranslationBundle
): Promise<boolean> {
  const title =
    runs.length === 1
      ? trans.__('Delete %1?', runs[0].name)
      : trans._n('Delete %1 run?', 'Delete %1 runs?', runs.length);
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
    title,
    body: (
      <Confirm
        says={trans.__(
          '%1 will be deleted. To hide runs and keep their files, archive them instead.',
          formatBytes(size)
        )}
        consequences={consequences}
      />
    ),
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Delete') })
    ],
    defaultButton: 0
  }).launch();
  return button.accept;
}

function itemText(item: IRemovalItem, trans: TranslationBundle): string {
  const files = trans._n(
    '%2 file',
    '%2 files',
    item.files,
    formatCount(item.files)
  );
  return trans.__('%1: %2, %3', item.path, files, formatBytes(item.size));
}
