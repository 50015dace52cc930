/** Heading of a column by which a table can be sorted. */
import {
  caretDownEmptyThinIcon,
  caretUpEmptyThinIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../Icon';

interface ISortHeadingProps extends React.ThHTMLAttributes<HTMLTableCellElement> {
  /** Direction of the order; null if the table is not sorted by the column. */
  sorted: 'up' | 'down' | null;
  onSort(): void;
}

/** A heading with a button that sorts the table. A caret shows the direction. */
export function SortHeading({
  sorted,
  onSort,
  children,
  ...cell
}: ISortHeadingProps): React.JSX.Element {
  const order = sorted === 'down' ? 'descending' : 'ascending';
  const caret =
    sorted === 'down' ? caretDownEmptyThinIcon : caretUpEmptyThinIcon;
  return (
    <th {...cell} aria-sort={sorted ? order : 'none'}>
      <button type="button" tabIndex={-1} onClick={onSort}>
        {children}
        {sorted && <Icon of={caret} />}
      </button>
    </th>
  );
}

/** Return the direction of a column in a table's order; null if the table is not sorted by the column. */
export function directionOf(
  order: { key: string; down: boolean },
  key: string
): 'up' | 'down' | null {
  return order.key !== key ? null : order.down ? 'down' : 'up';
}
