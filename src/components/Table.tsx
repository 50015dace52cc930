import {
  caretDownEmptyThinIcon,
  caretUpEmptyThinIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

// Made once: a comparison of two texts that makes its own takes a hundred times as long.
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** How a table is sorted. */
export interface ISort {
  key: string;
  down: boolean;
}

/** A column's head, by which the table is sorted; once more turns the order. */
export function SortHead({
  column,
  label,
  sort,
  onSort,
  ...props
}: {
  /** Key of the column. */
  column: string;
  label: string;
  sort: ISort;
  onSort(sort: ISort): void;
  className?: string;
  title?: string;
}): React.JSX.Element {
  const isSorted = column === sort.key;
  const order = sort.down ? 'descending' : 'ascending';
  return (
    <th {...props} aria-sort={isSorted ? order : 'none'}>
      <button
        type="button"
        tabIndex={-1}
        onClick={() => onSort({ key: column, down: isSorted && !sort.down })}
      >
        {label}
        {isSorted &&
          (sort.down ? (
            <caretDownEmptyThinIcon.react tag="span" />
          ) : (
            <caretUpEmptyThinIcon.react tag="span" />
          ))}
      </button>
    </th>
  );
}

/** In the place of rows that are not in the document. */
export function Space({
  height
}: {
  height: number;
}): React.JSX.Element | null {
  return height > 0 ? (
    <tr aria-hidden className="jp-t9k-Table-space">
      <td style={{ height }} />
    </tr>
  ) : null;
}

/** Order of two cells: numbers by size, texts with the numbers in them by size. */
export function compareCells(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a === b
      ? 0
      : a - b
    : COLLATOR.compare(String(a), String(b));
}
