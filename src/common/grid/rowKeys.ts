/** Keys of a table of named rows. */
import * as React from 'react';

/** Frames for which a row that was scrolled to is waited for. A slow page needs several until it has drawn it. */
const MOST_FRAMES = 60;

/** Actions of the keys in a table. */
export interface IRowKeys {
  /** Letters, in lower case, that are commands. All other letters and digits search for a name. */
  commands: string;
  /** Return the name of a row for the search; null for rows that are not searched, such as heads of groups. */
  nameOf(index: number): string | null;
  /**
   * Return the action of a key on a row; undefined if the key has none.
   *
   * @param key - Name of the key; letters are in lower case.
   * @param isRange - True if Shift is held.
   */
  actionOf(
    key: string,
    index: number,
    isRange: boolean
  ): (() => void) | undefined;
}

/**
 * Handle a key on a cell: run the row's action, or move to the next row whose name begins with the letter.
 *
 * @param event - The event of the key. Its default action is prevented if the key is handled.
 * @param keys - The actions of the keys.
 * @param count - Number of rows. The rows in the document have their index as `data-index`.
 * @param reveal - Scrolls a row into view.
 */
export function handleRowKey(
  event: React.KeyboardEvent<HTMLElement>,
  keys: IRowKeys,
  count: number,
  reveal: (index: number) => void
): void {
  const target = event.target as HTMLElement;
  const row = target.closest<HTMLElement>('tr[data-index]');
  const index = Number(row?.dataset.index ?? -1);
  if (
    index < 0 ||
    index >= count ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey
  ) {
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (/^[a-z0-9]$/.test(key) && !keys.commands.includes(key)) {
    moveTo(findName(keys, index, count, key), reveal, event.currentTarget);
    event.preventDefault();
    return;
  }
  const isPressed = key === 'Enter' && target.tagName === 'BUTTON';
  const action = keys.actionOf(key, index, event.shiftKey);
  if (action && !isPressed) {
    event.preventDefault();
    action();
  }
}

/** Return the index of the next row whose name begins with a letter; -1 if there is none. */
function findName(
  keys: IRowKeys,
  from: number,
  count: number,
  letter: string
): number {
  for (let step = 1; step <= count; step++) {
    const index = (from + step) % count;
    if (keys.nameOf(index)?.toLowerCase().startsWith(letter)) {
      return index;
    }
  }
  return -1;
}

/** Scroll to a row, and focus its name when the row is in the document. */
function moveTo(
  index: number,
  reveal: (index: number) => void,
  grid: HTMLElement
): void {
  if (index < 0) {
    return;
  }
  reveal(index);
  focusRow(index, grid, MOST_FRAMES);
}

function focusRow(index: number, grid: HTMLElement, frames: number): void {
  requestAnimationFrame(() => {
    const row = grid.querySelector(`tr[data-index="${index}"]`);
    if (row) {
      const cell = row.querySelectorAll<HTMLElement>('td')[1];
      (cell?.querySelector<HTMLElement>('button') ?? cell)?.focus();
    } else if (frames > 1 && grid.isConnected) {
      focusRow(index, grid, frames - 1);
    }
  });
}
