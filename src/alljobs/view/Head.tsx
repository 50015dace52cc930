/** Head of the table of jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Check } from '../../ui/table/Check';
import { directionOf, SortHeading } from '../../ui/table/SortHeading';
import { IJobColumn, NAME_COLUMN } from '../model/columns';
import { DEFAULT_VIEW, IOrder } from '../model/view';
import { columnLabel, columnTitle } from './text';

interface IHeadProps {
  columns: readonly IJobColumn[];
  order: IOrder;
  onOrder(order: IOrder): void;
  /** True if all shown jobs are selected, null if some are. */
  selected: boolean | null;
  onSelectAll(isSelected: boolean): void;
  trans: TranslationBundle;
}

/** Names of the columns. */
export function Head(props: IHeadProps): React.JSX.Element {
  const { columns, selected, trans } = props;
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th>
          <Check
            label={trans.__('Select all shown jobs')}
            checked={selected}
            onChange={() => props.onSelectAll(selected !== true)}
          />
        </th>
        {[NAME_COLUMN, ...columns].map(column => (
          <ColumnHead key={column.key} {...props} column={column} />
        ))}
        <th>
          <span className="jp-t9k-visuallyHidden">{trans.__('Actions')}</span>
        </th>
      </tr>
    </thead>
  );
}

/** A column's name. The first click sorts by the column, the second turns the order, the third restores the default. */
function ColumnHead({
  column,
  order,
  onOrder,
  trans
}: IHeadProps & { column: IJobColumn }): React.JSX.Element {
  const { key, isNumber } = column;
  const isSorted = order.key === key;
  const next = (): IOrder =>
    !isSorted
      ? { key, down: isNumber }
      : order.down === isNumber
        ? { key, down: !order.down }
        : DEFAULT_VIEW.order;
  return (
    <SortHeading
      data-kind={column.kind}
      data-number={isNumber || undefined}
      title={columnTitle(column, trans)}
      sorted={directionOf(order, key)}
      onSort={() => onOrder(next())}
    >
      <span className="jp-t9k-Runs-label">{columnLabel(column, trans)}</span>
    </SortHeading>
  );
}
