/** Keys of the table of runs. */
import { IRowKeys } from '../../../common/grid/rowKeys';
import { TableRow } from '../../model/rows';
import { RunRow } from '../../../api/types';

/** Actions of the keys. */
export interface IKeyActions {
  openRun: ((id: string) => void) | null;
  select(run: RunRow, isRange: boolean): void;
  /** Compare the selected runs. */
  compare(): void;
  /** Edit the tags of the selected runs, or of a run. */
  tag(run: RunRow): void;
  /** Delete the selected runs, or a run. */
  remove(run: RunRow): void;
}

/**
 * Return the keys: Enter opens the run, Space selects it, `C` compares, `T` tags, Delete deletes, and other letters
 * move to the next run whose name begins with them.
 *
 * @param rows - The rows that the grid draws.
 */
export function runKeys(
  rows: readonly TableRow[],
  actions: IKeyActions
): IRowKeys {
  return {
    commands: 'ct',
    nameOf: index => {
      const row = rows[index];
      return row.kind === 'run' ? row.run.name : null;
    },
    actionOf: (key, index, isRange) => {
      const row = rows[index];
      if (row.kind !== 'run') {
        return undefined;
      }
      const { run } = row;
      const handlers: Record<string, (() => void) | undefined> = {
        Enter: () => actions.openRun?.(run.id),
        ' ': () => actions.select(run, isRange),
        c: () => actions.compare(),
        t: () => actions.tag(run),
        Delete: () => actions.remove(run)
      };
      return handlers[key];
    }
  };
}
