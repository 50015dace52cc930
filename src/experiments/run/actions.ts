/** Actions on a run that ask the user. */
import { TranslationBundle } from '@jupyterlab/translation';
import { RunRow } from '../../api/types';
import { formatBytes } from '../../common/format';
import { IRunLab } from './pageLab';
import { RunModel } from './model/run';

/** Let the user edit the tags of a run. */
export async function editTags(
  model: RunModel,
  row: RunRow,
  lab: IRunLab,
  trans: TranslationBundle
): Promise<void> {
  const text = await lab.askText(
    trans.__('Tags of %1', row.name),
    trans.__('Tags, separated by commas'),
    row.tags.join(', ')
  );
  if (text !== null) {
    const tags = text
      .split(',')
      .map(tag => tag.trim())
      .filter(Boolean);
    await model
      .change({ tags: [...new Set(tags)] })
      .catch(error => lab.notifyError(error));
  }
}

/** Let the user edit the note of a run. */
export async function editNote(
  model: RunModel,
  row: RunRow,
  lab: IRunLab,
  trans: TranslationBundle
): Promise<void> {
  const note = await lab.askText(
    trans.__('Note on %1', row.name),
    trans.__('Note'),
    row.note
  );
  if (note !== null) {
    await model.change({ note }).catch(error => lab.notifyError(error));
  }
}

/** Delete a run after the user has confirmed the list of folders. The page then closes. */
export async function deleteRun(
  model: RunModel,
  row: RunRow,
  lab: IRunLab,
  trans: TranslationBundle
): Promise<void> {
  try {
    const { items, size } = await model.client.remove([model.id], true);
    const text = {
      title: trans.__('Delete %1?', row.name),
      says: trans.__('%1 will be deleted.', formatBytes(size))
    };
    if (await lab.confirmRemoval(text, items)) {
      await model.client.remove([model.id], false);
      lab.close();
    }
  } catch (error) {
    lab.notifyError(error);
  }
}

/** Let the user choose other runs of the same folder, and compare them with a run. */
export async function compareWith(
  model: RunModel,
  row: RunRow,
  lab: IRunLab,
  trans: TranslationBundle
): Promise<void> {
  try {
    const others = (await model.siblings()).filter(({ id }) => id !== row.id);
    const labels = namesOf(others);
    const chosen = await lab.askRuns(
      trans.__('Compare %1 with', row.name),
      labels
    );
    if (chosen?.length) {
      const ids = chosen.map(label => others[labels.indexOf(label)].id);
      lab.openComparison([row.id, ...ids]);
    }
  } catch (error) {
    lab.notifyError(error);
  }
}

/** Return names that tell runs apart. */
export function namesOf(
  runs: readonly Pick<RunRow, 'name' | 'suffix' | 'id'>[]
): string[] {
  const used = new Set<string>();
  return runs.map(({ name, suffix, id }) => {
    const isTwice = runs.filter(run => run.name === name).length > 1;
    const label = isTwice && suffix ? `${name} (${suffix})` : name;
    const own = used.has(label) ? `${name} (${id.slice(0, 8)})` : label;
    used.add(own);
    return own;
  });
}

/** Copy code that reads runs as a pandas table. */
export function copyAsPandas(
  runs: readonly RunRow[],
  lab: IRunLab,
  trans: TranslationBundle
): void {
  lab.copy(pandasOf(runs), trans.__('The code was copied.'));
}

/** Return Python code that makes a pandas table of runs: names, parameters and last values. */
export function pandasOf(runs: readonly RunRow[]): string {
  const rows = runs.map(({ id, name, status, parameters, metrics }) => {
    const values = {
      ...{ id, name, status },
      ...parameters,
      ...Object.fromEntries(
        Object.entries(metrics).map(([key, { last }]) => [key, last])
      )
    };
    const pairs = Object.entries(values).map(
      ([key, value]) => `${JSON.stringify(key)}: ${pythonOf(value)}`
    );
    return `    {${pairs.join(', ')}},\n`;
  });
  return `import pandas as pd\n\nruns = pd.DataFrame([\n${rows.join('')}])\n`;
}

const WORDS: Record<string, string> = {
  nan: 'float("nan")',
  inf: 'float("inf")',
  '-inf': 'float("-inf")'
};

function pythonOf(value: unknown): string {
  if (value === null || value === undefined) {
    return 'None';
  }
  if (typeof value === 'boolean') {
    return value ? 'True' : 'False';
  }
  return typeof value === 'string' && Object.hasOwn(WORDS, value)
    ? WORDS[value]
    : JSON.stringify(value);
}
