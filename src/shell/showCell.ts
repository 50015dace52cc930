/** Display of a cell of an open notebook; loaded on first use. */
import { Widget } from '@lumino/widgets';
import { notebookOf } from './notebooks';

/**
 * Make a cell the active one, scroll to it and put the cursor on a line.
 *
 * @param tab - Tab of a notebook.
 * @param number - Number of the cell, from 1.
 * @param line - Line of the cell, from 1.
 */
export async function showCell(
  tab: Widget,
  number: number,
  line: number
): Promise<void> {
  const notebook = notebookOf(tab);
  const cell = notebook?.widgets[number - 1];
  if (!notebook || !cell) {
    return; // the notebook has changed since
  }
  notebook.deselectAll();
  notebook.activeCellIndex = number - 1;
  await notebook.scrollToItem(number - 1, 'smart');
  await cell.ready;
  cell.editor?.setCursorPosition({ line: line - 1, column: 0 });
  notebook.node.focus();
}
