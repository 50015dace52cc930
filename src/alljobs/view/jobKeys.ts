/** Keys of the table of jobs. */
import { JobSummary } from '../../api/types';
import { IRowKeys } from '../../common/grid/rowKeys';
import { jobTitle } from '../../jobs/sentence';
import { TableRow } from '../model/rows';
import { JobTableModel } from '../model/table';
import { IRowActions } from './Rows';

/** Actions of the keys. */
export interface IKeyActions extends Pick<
  IRowActions,
  'open' | 'select' | 'selectAll' | 'toggle'
> {
  /** Compare the selected jobs. */
  compare(): void;
  /** Delete the selected jobs, or a job. */
  remove(job: JobSummary): void;
}

/**
 * Return the keys: Enter opens the job, Space selects it, `C` compares, Delete deletes, and other letters move to the
 * next job whose name begins with them. On the row of a group, Enter folds and Space selects.
 *
 * @param rows - The rows that are drawn.
 */
export function jobKeys(
  model: JobTableModel,
  rows: readonly TableRow[],
  actions: IKeyActions
): IRowKeys {
  return {
    commands: 'c',
    nameOf: index => {
      const row = rows[index];
      return row.kind === 'job' ? jobTitle(row.job) : null;
    },
    actionOf: (key, index, isRange) =>
      key === 'c'
        ? () => actions.compare()
        : actionsOn(rows[index], model, actions, isRange)[key]
  };
}

/** Return the actions on a row, by their keys. */
function actionsOn(
  row: TableRow,
  model: JobTableModel,
  actions: IKeyActions,
  isRange: boolean
): Record<string, (() => void) | undefined> {
  if (row.kind === 'job') {
    const { job } = row;
    return {
      Enter: () => actions.open(job),
      ' ': () => actions.select(job, isRange),
      Delete: () => actions.remove(job)
    };
  }
  const { ids } = model.selection;
  return {
    Enter: () => actions.toggle(row.key),
    ' ': () =>
      actions.selectAll(
        row.jobs,
        row.jobs.some(({ id }) => !ids.has(id))
      )
  };
}
