/** React hook for the keyboard navigation of a grid. */

import * as React from 'react';

const CELLS = 'th > button, td';

/** Rows that Page Up and Page Down move by: fewer than the hidden rows that the document contains. */
const PAGE = 15;

interface IGridFocus {
  /** The part of the grid that has the focus; null if the focus is outside. */
  inside: 'head' | 'body' | null;
  /** Properties of the grid's element. */
  props: {
    ref: React.RefObject<HTMLTableElement>;
    tabIndex: number;
    onKeyDown(event: React.KeyboardEvent<HTMLElement>): void;
    onFocus(event: React.FocusEvent<HTMLElement>): void;
    onBlur(event: React.FocusEvent<HTMLElement>): void;
  };
}

/**
 * Handle the focus of a grid. The grid is one tab stop. Arrow keys move between cells, Home and End to the ends
 * of a row, and Page Up and Page Down by several rows.
 */
export function useGridFocus(): IGridFocus {
  const ref = React.useRef<HTMLTableElement>(null);
  const [inside, setInside] = React.useState<IGridFocus['inside']>(null);
  React.useEffect(() => {
    // A row that scrolls out of view is removed from the document, and no blur event reports that it lost the
    // focus.
    if (inside && !ref.current?.contains(document.activeElement)) {
      setInside(null);
    }
  });
  const props: IGridFocus['props'] = {
    ref,
    // While a cell has the focus, the grid itself is not a tab stop. Otherwise Shift+Tab would never leave the
    // grid.
    tabIndex: inside ? -1 : 0,
    onBlur: event => {
      if (!event.currentTarget.contains(event.relatedTarget)) {
        setInside(null);
      }
    },
    onFocus: event => {
      setInside(event.target.closest('tbody') ? 'body' : 'head');
      if (event.target === event.currentTarget) {
        firstSeen(event.currentTarget)?.focus({ preventScroll: true });
      }
    },
    onKeyDown: event => {
      const target = event.target as HTMLElement;
      const rows = rowsOf(event.currentTarget);
      const row = rows.findIndex(each => each.contains(target));
      const cells = row < 0 ? [] : cellsOf(rows[row]);
      const column = cells.findIndex(cell =>
        cell.closest('th, td')?.contains(target)
      );
      if (column < 0) {
        return;
      }
      const to: Record<string, [number, number]> = {
        ArrowUp: [row - 1, column],
        ArrowDown: [row + 1, column],
        ArrowLeft: [row, column - 1],
        ArrowRight: [row, column + 1],
        PageUp: [Math.min(row, Math.max(1, row - PAGE)), column],
        PageDown: [Math.min(rows.length - 1, row + PAGE), column],
        Home: [row, 0],
        End: [row, cells.length - 1]
      };
      const place = to[event.key];
      if (place) {
        cellAt(rows, ...place)?.focus();
        event.preventDefault();
      }
    }
  };
  return { inside, props };
}

/** Return the first cell of the first row that the head does not cover. */
function firstSeen(grid: HTMLElement): HTMLElement | undefined {
  const [head, ...rows] = rowsOf(grid);
  const edge = head?.querySelector('th')?.getBoundingClientRect().bottom ?? 0;
  const seen = rows.find(
    row => row.getBoundingClientRect().top >= edge - 1 // positions can be fractions of a pixel
  );
  return cellAt([seen ?? rows[0]], 0, 0);
}

function rowsOf(grid: HTMLElement): HTMLElement[] {
  return [...grid.querySelectorAll<HTMLElement>('tr:not([aria-hidden])')];
}

/** Return the elements of a row that take the focus: its cells, or the buttons inside of them. */
function cellsOf(row: HTMLElement): HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(CELLS)]
    .filter(isShown)
    .map(cell => cell.querySelector<HTMLElement>('button') ?? cell);
}

/** Return true if a cell's column is shown; the style hides columns that do not fit. */
function isShown(cell: HTMLElement): boolean {
  const { display } = getComputedStyle(cell.closest('th, td') ?? cell);
  return display !== 'none';
}

/** Return a cell by its row and column; the last cell of a row that has fewer cells. */
function cellAt(
  rows: readonly (HTMLElement | undefined)[],
  row: number,
  column: number
): HTMLElement | undefined {
  const to = rows[row];
  const cells = to ? cellsOf(to) : [];
  return cells[Math.min(column, cells.length - 1)];
}
