/** Head of the table of runs. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatCount } from '../../../common/format';
import { ITableColumn, NAME_COLUMN } from '../../model/columns';
import { IOrder } from '../../model/view';
import { Check } from '../../../ui/table/Check';
import { directionOf, SortHeading } from '../../../ui/table/SortHeading';
import { columnLabel, modeText } from '../text';

interface IHeadProps {
  columns: readonly ITableColumn[];
  order: IOrder;
  onOrder(order: IOrder): void;
  /** True if all shown runs are selected, null if some are. */
  selected: boolean | null;
  onSelectAll(isSelected: boolean): void;
  /** Opens the menu of a metric's column. */
  onMenu(column: ITableColumn, x: number, y: number): void;
  trans: TranslationBundle;
}

/** Names of the columns, below the names of their groups. */
export function Head(props: IHeadProps): React.JSX.Element {
  const { columns, selected, trans } = props;
  const groups = groupsOf(columns, trans);
  return (
    <thead>
      {groups.some(({ label }) => label) && (
        <tr aria-hidden className="jp-t9k-Runs-groups">
          <td colSpan={2} />
          {groups.map(({ key, label, span }) => (
            <td key={key} colSpan={span}>
              {label}
            </td>
          ))}
          <td />
        </tr>
      )}
      <tr aria-rowindex={1}>
        <th>
          <Check
            label={trans.__('Select all shown runs')}
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

/** A column's name. The first click sorts numbers from the best or the greatest, and texts from A. */
function ColumnHead({
  column,
  order,
  onOrder,
  onMenu,
  trans
}: IHeadProps & { column: ITableColumn }): React.JSX.Element {
  const { key, kind, goal, mode, isNumber } = column;
  const label = columnLabel(column, trans);
  if (kind === 'curve') {
    return (
      <th data-kind={kind} title={trans.__('Curve of %1', label)}>
        <span className="jp-t9k-Runs-label">{label}</span>
      </th>
    );
  }
  const isSorted = order.key === key;
  const downFirst = isNumber && !(goal === 'min' && mode !== 'step');
  const title =
    kind === 'metric' ? `${label}: ${modeText(column, trans)}` : label;
  return (
    <SortHeading
      data-kind={kind}
      data-number={isNumber || undefined}
      title={title}
      sorted={directionOf(order, key)}
      onSort={() => onOrder({ key, down: isSorted ? !order.down : downFirst })}
      onContextMenu={event => {
        if (kind === 'metric') {
          event.preventDefault();
          event.stopPropagation();
          const box = event.currentTarget.getBoundingClientRect();
          onMenu(column, event.clientX || box.left, box.bottom);
        }
      }}
    >
      <span className="jp-t9k-Runs-label">{label}</span>
      {column.step !== null && (
        <small className="jp-t9k-caption">
          {trans._p('step', 'at %1', formatCount(column.step))}
        </small>
      )}
    </SortHeading>
  );
}

/** Return the groups of adjacent columns. */
function groupsOf(
  columns: readonly ITableColumn[],
  trans: TranslationBundle
): { key: string; label: string; span: number }[] {
  const labels: Partial<Record<ITableColumn['kind'], string>> = {
    environment: trans.__('Environment'),
    parameter: trans.__('Hyperparameters'),
    metric: trans.__('Metrics')
  };
  const groups: { key: string; label: string; span: number }[] = [];
  for (const { key, kind } of columns) {
    const label = labels[kind] ?? '';
    const last = groups[groups.length - 1];
    if (last && last.label === label) {
      last.span++;
    } else {
      groups.push({ key, label, span: 1 });
    }
  }
  return groups;
}
