/** React hook for the keys of the table of jobs. */
import * as React from 'react';
import { JobSummary } from '../../api/types';
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
 * Return a handler of keys: Enter opens the job, Space selects it, `C` compares, Delete deletes, and other letters
 * move to the next job whose name begins with them. On the row of a group, Enter folds and Space selects.
 *
 * @param reveal - Scrolls a row into view.
 * @param grid - The grid's element.
 */
export function useJobKeys(
  model: JobTableModel,
  actions: IKeyActions,
  reveal: (index: number) => void,
  grid: React.RefObject<HTMLElement>
): (event: React.KeyboardEvent<HTMLElement>) => void {
  return event => {
    const target = event.target as HTMLElement;
    const index = Number(
      target.closest<HTMLElement>('tr[data-index]')?.dataset.index ?? -1
    );
    const { rows } = model;
    const row = rows[index];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const { key } = event;
    if (/^[a-z0-9]$/i.test(key) && !/^c$/i.test(key)) {
      moveTo(findName(rows, index, key), reveal, grid.current);
      event.preventDefault();
      return;
    }
    const handle = handlerOf(key, row, model, actions, event.shiftKey);
    const isPressed = key === 'Enter' && target.tagName === 'BUTTON';
    if (handle && !isPressed) {
      event.preventDefault();
      handle();
    }
  };
}

function handlerOf(
  key: string,
  row: TableRow,
  model: JobTableModel,
  actions: IKeyActions,
  isRange: boolean
): (() => void) | undefined {
  if (key.toLowerCase() === 'c') {
    return () => actions.compare();
  }
  if (row.kind === 'job') {
    const { job } = row;
    const handlers: Record<string, () => void> = {
      Enter: () => actions.open(job),
      ' ': () => actions.select(job, isRange),
      Delete: () => actions.remove(job)
    };
    return handlers[key];
  }
  const { ids } = model.selection;
  const handlers: Record<string, () => void> = {
    Enter: () => actions.toggle(row.key),
    ' ': () =>
      actions.selectAll(
        row.jobs,
        row.jobs.some(({ id }) => !ids.has(id))
      )
  };
  return handlers[key];
}

/** Return the index of the next job whose name begins with a letter; -1 if there is none. */
function findName(
  rows: readonly TableRow[],
  from: number,
  letter: string
): number {
  for (let step = 1; step <= rows.length; step++) {
    const index = (from + step) % rows.length;
    const row = rows[index];
    if (row.kind === 'job') {
      const { name, display_name } = row.job;
      if (
        (display_name ?? name).toLowerCase().startsWith(letter.toLowerCase())
      ) {
        return index;
      }
    }
  }
  return -1;
}

/** Scroll to a row, and focus its name when the row is in the document. */
function moveTo(
  index: number,
  reveal: (index: number) => void,
  grid: HTMLElement | null
): void {
  if (index < 0) {
    return;
  }
  reveal(index);
  requestAnimationFrame(() => {
    const row = grid?.querySelector(`tr[data-index="${index}"]`);
    const cell = row?.querySelectorAll<HTMLElement>('td')[1];
    (cell?.querySelector<HTMLElement>('button') ?? cell)?.focus();
  });
}
