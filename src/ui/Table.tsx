import {
  caretDownEmptyThinIcon,
  caretUpEmptyThinIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from './Icon';

// Made once: a comparison of two texts that makes its own takes a hundred times as long.
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Height of a row in px at the default font size, until it is measured. */
const ROW = 29;

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
            <Icon of={caretDownEmptyThinIcon} />
          ) : (
            <Icon of={caretUpEmptyThinIcon} />
          ))}
      </button>
    </th>
  );
}

/**
 * Height of a table's rows in px, as the first of them that is in the document has it.
 *
 * @param body - Where the rows are.
 */
export function useRowHeight(body: React.RefObject<HTMLElement>): number {
  const [height, setHeight] = React.useState(ROW);
  React.useLayoutEffect(() => {
    const row = body.current?.querySelector('tr:not([aria-hidden])');
    const measured = row?.getBoundingClientRect().height ?? 0;
    if (measured > 0 && Math.abs(measured - height) > 0.1) {
      setHeight(measured); // follows the font size of the lab
    }
  });
  return height;
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
