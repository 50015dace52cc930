import * as React from 'react';

const CELLS = 'th > button, td';

/** Rows that Page Up and Page Down go: fewer than are in the document beyond those that are seen. */
const PAGE = 15;

interface IGridFocus {
  /** Where the focus is, if it is in the grid. */
  inside: 'head' | 'body' | null;
  /** Of the element that is the grid. */
  props: {
    ref: React.RefObject<HTMLTableElement>;
    tabIndex: number;
    onKeyDown(event: React.KeyboardEvent<HTMLElement>): void;
    onFocus(event: React.FocusEvent<HTMLElement>): void;
    onBlur(event: React.FocusEvent<HTMLElement>): void;
  };
}

/**
 * Keys of a grid: it is one tab stop, arrows go from cell to cell, Home and End to the ends of a row.
 */
export function useGridFocus(): IGridFocus {
  const ref = React.useRef<HTMLTableElement>(null);
  const [inside, setInside] = React.useState<IGridFocus['inside']>(null);
  React.useEffect(() => {
    // A row that is scrolled away is taken out of the document, and loses the focus without a word.
    if (inside && !ref.current?.contains(document.activeElement)) {
      setInside(null);
    }
  });
  const props: IGridFocus['props'] = {
    ref,
    // While a cell has the focus the grid itself is no stop, or Shift+Tab would never leave it.
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

/** The first cell of the first row that is not behind the head. */
function firstSeen(grid: HTMLElement): HTMLElement | undefined {
  const [head, ...rows] = rowsOf(grid);
  const edge = head?.querySelector('th')?.getBoundingClientRect().bottom ?? 0;
  const seen = rows.find(
    row => row.getBoundingClientRect().top >= edge - 1 // pixels may be parted
  );
  return cellAt([seen ?? rows[0]], 0, 0);
}

function rowsOf(grid: HTMLElement): HTMLElement[] {
  return [...grid.querySelectorAll<HTMLElement>('tr:not([aria-hidden])')];
}

/** What takes the focus in a row: its cells, or the buttons that they have. */
function cellsOf(row: HTMLElement): HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(CELLS)]
    .filter(isShown)
    .map(cell => cell.querySelector<HTMLElement>('button') ?? cell);
}

/** Columns that have no room are hidden, and can't take the focus. */
function isShown(cell: HTMLElement): boolean {
  const { display } = getComputedStyle(cell.closest('th, td') ?? cell);
  return display !== 'none';
}

/** A row may have fewer cells than that from which one comes. */
function cellAt(
  rows: readonly (HTMLElement | undefined)[],
  row: number,
  column: number
): HTMLElement | undefined {
  const to = rows[row];
  const cells = to ? cellsOf(to) : [];
  return cells[Math.min(column, cells.length - 1)];
}
