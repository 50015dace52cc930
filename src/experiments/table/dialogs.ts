/** Dialogs of the table: tags and notes, steps. */
import { InputDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { RunRow } from '../../api/types';

/** Limits of the server. */
const LONGEST_TAG = 100;
const MOST_TAGS = 50;

/** Let the user edit the tags of runs. Null if the user cancels. */
export async function askTags(
  runs: readonly RunRow[],
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
  run: RunRow,
  all: readonly RunRow[],
  edited: readonly string[]
): string[] {
  const own = run.tags.filter(
    tag => !all.every(({ tags }) => tags.includes(tag))
  );
  return [...new Set([...own, ...edited])];
}

/** Let the user edit the note of a run. Null if the user cancels. */
export async function askNote(
  run: RunRow,
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

/** Let the user choose the step of a column. Null if the user cancels. */
export async function askStep(
  metric: string,
  step: number,
  trans: TranslationBundle
): Promise<number | null> {
  const { button, value } = await InputDialog.getNumber({
    title: trans.__('Value of %1 at a step', metric),
    label: trans.__(
      'Step. A run that has not reached the step has an empty cell.'
    ),
    value: step,
    okLabel: trans.__('Show')
  });
  return button.accept && Number.isFinite(value)
    ? Math.max(0, value ?? 0)
    : null;
}
