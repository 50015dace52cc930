/** The cells of a notebook that a job runs, as the value of an option of the notebook's script. */
import {
  NOTEBOOK_CELLS_OPTION,
  NOTEBOOK_INSTALL_OPTION
} from '../../api/constants';
import { NotebookCell, ScriptOption } from '../../api/types';
import { OptionValue } from './scriptOptions';

/** Return true if the form shows an option as a list of cells or as an install step, not as an option's field. */
export function isNotebookOption({ flags }: ScriptOption): boolean {
  return (
    flags.includes(NOTEBOOK_CELLS_OPTION) ||
    flags.includes(NOTEBOOK_INSTALL_OPTION)
  );
}

/**
 * Return the keys of the cells that run.
 *
 * @param chosen - Value of the option for cells; null for the notebook's own choice.
 */
export function runningCells(
  cells: readonly NotebookCell[],
  chosen: OptionValue | null
): ReadonlySet<string> {
  return new Set(
    typeof chosen === 'string'
      ? chosen.split(',')
      : cells.filter(cell => cell.runs).map(cell => cell.key)
  );
}

/** Return the option's value for cells, in the notebook's order. A comma alone chooses none. */
export function cellsValue(
  cells: readonly NotebookCell[],
  running: ReadonlySet<string>
): string {
  const keys = cells.map(({ key }) => key).filter(key => running.has(key));
  return keys.join(',') || ',';
}

/** Id and number of a cell in an open notebook. */
export interface ICellName {
  id: string;
  /** Position among all cells, from 1. */
  number: number;
}

/** Return the keys of cells that are named by an open notebook. Files of old formats have no ids. */
export function keysOf(
  cells: readonly NotebookCell[],
  names: readonly ICellName[]
): ReadonlySet<string> {
  const ids = new Set(names.map(({ id }) => id));
  const numbers = new Set(names.map(({ number }) => number));
  return new Set(
    cells
      .filter(({ key, number }) =>
        key === String(number) ? numbers.has(number) : ids.has(key)
      )
      .map(({ key }) => key)
  );
}
