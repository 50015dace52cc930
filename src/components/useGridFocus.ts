import * as React from 'react';

const CELLS = 'th > button, td';

interface IGridHandlers {
  tabIndex: number;
  onKeyDown(event: React.KeyboardEvent<HTMLElement>): void;
  onFocus(event: React.FocusEvent<HTMLElement>): void;
  onBlur(): void;
}

/**
 * Keys of a grid: it is one tab stop, arrows go from cell to cell, Home and End to the ends of a row.
 */
export function useGridFocus(): IGridHandlers {
  // While a cell has the focus the grid itself is no stop, or Shift+Tab would never leave it.
  const [inside, setInside] = React.useState(false);
  return {
    tabIndex: inside ? -1 : 0,
    onBlur: () => setInside(false),
    onFocus: event => {
      setInside(true);
      if (event.target === event.currentTarget) {
        cellAt(rowsOf(event.currentTarget), 1, 0)?.focus();
      }
    },
    onKeyDown: event => {
      const rows = rowsOf(event.currentTarget);
      const cell = (event.target as HTMLElement).closest<HTMLElement>('th, td');
      const row = rows.findIndex(cells =>
        cells.some(item => cell?.contains(item))
      );
      const column = rows[row]?.findIndex(item => cell?.contains(item)) ?? -1;
      if (row < 0) {
        return;
      }
      const last = rows[row].length - 1;
      const to: Record<string, [number, number]> = {
        ArrowUp: [row - 1, column],
        ArrowDown: [row + 1, column],
        ArrowLeft: [row, column - 1],
        ArrowRight: [row, column + 1],
        Home: [row, 0],
        End: [row, last]
      };
      const place = to[event.key];
      if (place) {
        cellAt(rows, ...place)?.focus();
        event.preventDefault();
      }
    }
  };
}

/** What takes the focus in each row: a cell, or the button that it has. */
function rowsOf(grid: HTMLElement): HTMLElement[][] {
  return [...grid.querySelectorAll('tr:not([aria-hidden])')].map(row =>
    [...row.querySelectorAll<HTMLElement>(CELLS)]
      .filter(isShown)
      .map(cell => cell.querySelector<HTMLElement>('button') ?? cell)
  );
}

/** Columns that have no room are hidden, and can't take the focus. */
function isShown(cell: HTMLElement): boolean {
  const { display } = getComputedStyle(cell.closest('th, td') ?? cell);
  return display !== 'none';
}

function cellAt(
  rows: HTMLElement[][],
  row: number,
  column: number
): HTMLElement | undefined {
  return rows[row]?.[column];
}
