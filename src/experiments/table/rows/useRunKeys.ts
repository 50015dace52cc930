/** React hook for the keys of the table of runs. */
import * as React from 'react';
import { ExperimentsModel } from '../../model/experiments';
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
 * Return a handler of keys: Enter opens the run, Space selects it, `C` compares, `T` tags, Delete deletes, and
 * other letters move to the next run whose name begins with them.
 *
 * @param reveal - Scrolls a row into view.
 * @param grid - The grid's element.
 */
export function useRunKeys(
  model: ExperimentsModel,
  actions: IKeyActions,
  reveal: (index: number) => void,
  grid: React.RefObject<HTMLElement>
): (event: React.KeyboardEvent<HTMLElement>) => void {
  return event => {
    const target = event.target as HTMLElement;
    const index = Number(
      target.closest<HTMLElement>('tr[data-index]')?.dataset.index ?? -1
    );
    const row = model.rows[index];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const { key } = event;
    if (/^[a-z0-9]$/i.test(key) && !/^[ct]$/i.test(key)) {
      moveTo(findName(model, index, key), reveal, grid.current);
      event.preventDefault();
      return;
    }
    if (row.kind !== 'run') {
      return;
    }
    const { run } = row;
    const handlers: Record<string, (() => void) | null | undefined> = {
      Enter:
        target.tagName === 'BUTTON' ? null : () => actions.openRun?.(run.id),
      ' ': () => actions.select(run, event.shiftKey),
      c: () => actions.compare(),
      t: () => actions.tag(run),
      Delete: () => actions.remove(run)
    };
    const handle = handlers[key.length === 1 ? key.toLowerCase() : key];
    if (handle) {
      event.preventDefault();
      handle();
    }
  };
}

/** Return the index of the next run whose name begins with a letter; -1 if there is none. */
function findName(
  { rows }: ExperimentsModel,
  from: number,
  letter: string
): number {
  for (let step = 1; step <= rows.length; step++) {
    const index = (from + step) % rows.length;
    const row = rows[index];
    if (
      row.kind === 'run' &&
      row.run.name.toLowerCase().startsWith(letter.toLowerCase())
    ) {
      return index;
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
