/** React hook for the keyboard navigation of a grid. */

import * as React from 'react';

const CELLS = 'th > button, td';

const PAGE = 15;

/** Number of rows that a key moves by. */
const ROWS: Partial<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -PAGE,
  PageDown: PAGE
};

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
 * of a row, and Page Up and Page Down by several rows. If rows on the way are not in the document yet, the focus moves on
 * when they are.
 */
export function useGridFocus(): IGridFocus {
  const ref = React.useRef<HTMLTableElement>(null);
  const [inside, setInside] = React.useState<IGridFocus['inside']>(null);
  // Rows that the focus has still to move by.
  const left = React.useRef(0);
  React.useEffect(() => {
    const place = left.current && ref.current && placeIn(ref.current);
    left.current = place ? moveRows(place, left.current) : 0;
  });
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
      const place = placeIn(event.currentTarget);
      const rows = ROWS[event.key];
      if (!place) {
        return;
      }
      if (rows !== undefined) {
        left.current = moveRows(place, left.current + rows);
      } else {
        const to: Partial<Record<string, number>> = {
          ArrowLeft: place.column - 1,
          ArrowRight: place.column + 1,
          Home: 0,
          End: Infinity
        };
        const column = to[event.key];
        if (column === undefined) {
          return;
        }
        left.current = 0;
        cellAt(place.rows[place.row], column)?.focus();
      }
      event.preventDefault();
    }
  };
  return { inside, props };
}

/** A cell that has the focus. */
interface IPlace {
  /** Rows in the document, with the head first. */
  rows: readonly HTMLElement[];
  row: number;
  column: number;
}

/** Return the cell that has the focus; null if none has it. */
function placeIn(grid: HTMLElement): IPlace | null {
  const { activeElement } = document;
  const rows = rowsOf(grid);
  const row = rows.findIndex(each => each.contains(activeElement));
  const column =
    row < 0
      ? -1
      : cellsOf(rows[row]).findIndex(cell =>
          cell.closest('th, td')?.contains(activeElement)
        );
  return column < 0 ? null : { rows, row, column };
}

/**
 * Move the focus to another row, as far as the rows are in the document.
 *
 * @param place - The cell that has the focus.
 * @param by - Number of rows, negative for upwards. Only a move by one row leads into the head.
 * @returns The number of rows that the focus has still to move by.
 */
function moveRows({ rows, row, column }: IPlace, by: number): number {
  const last = rows.length - 1;
  const beyond = rows[by < 0 ? Math.min(1, last) : last];
  const isCut =
    row > 0 &&
    (by < 0 ? beyond.previousElementSibling : beyond.nextElementSibling) !==
      null;
  const first = isCut || by < -1 ? Math.min(row, 1) : 0;
  const to = Math.min(last, Math.max(first, row + by));
  if (to !== row) {
    cellAt(rows[to], column)?.focus();
  }
  return isCut ? row + by - to : 0;
}

/** Return the first cell of the first row that the head does not cover. */
function firstSeen(grid: HTMLElement): HTMLElement | undefined {
  const [head, ...rows] = rowsOf(grid);
  const edge = head?.querySelector('th')?.getBoundingClientRect().bottom ?? 0;
  const seen = rows.find(
    row => row.getBoundingClientRect().top >= edge - 1 // positions can be fractions of a pixel
  );
  return cellAt(seen ?? rows[0], 0);
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

/** Return a cell of a row by its column, or the last cell; undefined before the first column. */
function cellAt(
  row: HTMLElement | undefined,
  column: number
): HTMLElement | undefined {
  const cells = row ? cellsOf(row) : [];
  return cells[Math.min(column, cells.length - 1)];
}
