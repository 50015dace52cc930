/** Rows of the table: a run, and the head of a group. */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Icon } from '../../../ui/Icon';
import { ITableColumn } from '../../model/columns';
import { IGroup } from '../../model/rows';
import { RunRow as IRow } from '../../../api/types';
import { Cell, cellTitle, ICellActions, RunName } from './cells';
import { Check } from '../../../ui/table/Check';
import { formatMetric, runsText } from '../text';
import { listed } from '../../../common/format';

/** Actions of a row. The object is the same in all renderings. */
export interface IRowActions extends ICellActions {
  /** Select a run; with `isRange`, all runs since the last selected one as well. */
  select(run: IRow, isRange: boolean): void;
  openMenu(run: IRow, x: number, y: number): void;
}

interface IRunRowProps {
  run: IRow;
  /** Position in the table, from 0. */
  index: number;
  columns: readonly ITableColumn[];
  isSelected: boolean;
  /** True if another shown run has the same name. */
  hasSuffix: boolean;
  /** Keys of the columns in which the run has the best value, joined by spaces. */
  best: string;
  actions: IRowActions;
  trans: TranslationBundle;
}

/** Row of a run. It renders again only if its run, its columns or its selection changed. */
export const RunRow = React.memo((props: IRunRowProps) => {
  const { run, index, columns, isSelected, best, actions, trans } = props;
  const { hasSuffix } = props;
  const bestKeys = best.split('\n');
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-run={run.id}
      data-index={index}
      onContextMenu={event => {
        event.preventDefault();
        event.stopPropagation();
        const { clientX, clientY } = event;
        const box = (event.target as HTMLElement).getBoundingClientRect();
        // A menu that the keyboard opens has no position.
        actions.openMenu(run, clientX || box.left, clientY || box.bottom);
      }}
    >
      <td role="gridcell" tabIndex={-1}>
        <Check
          label={trans.__('Select %1', run.name)}
          checked={isSelected}
          onChange={event => actions.select(run, event.shiftKey)}
        />
      </td>
      <td
        role="rowheader"
        tabIndex={-1}
        className="jp-t9k-Runs-name"
        title={run.name}
      >
        <div>
          <RunName {...{ run, hasSuffix, actions, trans }} />
        </div>
      </td>
      {columns.map(column => (
        <td
          key={column.key}
          role="gridcell"
          tabIndex={-1}
          data-kind={column.kind}
          data-number={column.isNumber || undefined}
          title={cellTitle(run, column) || undefined}
        >
          <Cell
            run={run}
            column={column}
            isBest={bestKeys.includes(column.key)}
            actions={actions}
            trans={trans}
          />
        </td>
      ))}
      <td role="gridcell" tabIndex={-1} className="jp-t9k-Runs-actions">
        <button
          type="button"
          className="jp-t9k-IconButton"
          aria-label={trans.__('Actions on %1', run.name)}
          aria-haspopup="menu"
          tabIndex={-1}
          onClick={event => {
            const box = event.currentTarget.getBoundingClientRect();
            actions.openMenu(run, box.left, box.bottom);
          }}
        />
      </td>
    </tr>
  );
});
RunRow.displayName = 'RunRow';

interface IGroupRowProps {
  group: IGroup;
  index: number;
  isOpen: boolean;
  /** Number of columns of the table, those around the values included. */
  span: number;
  /** The metric that the group sums up. */
  metric: ITableColumn | undefined;
  selected: ReadonlySet<string>;
  onToggle(label: string | null): void;
  onSelect(runs: readonly IRow[], isSelected: boolean): void;
  trans: TranslationBundle;
}

/** Head of a group with a summary of its runs. */
export function GroupRow(props: IGroupRowProps): React.JSX.Element {
  const { group, index, isOpen, span, metric, selected, trans } = props;
  const { label, runs, best, mean } = group;
  const name = label === null ? trans.__('Without a value') : label;
  const count = runs.filter(({ id }) => selected.has(id)).length;
  const values = [
    best === null ? null : trans.__('best %1', formatMetric(best)),
    mean === null ? null : trans.__('mean %1', formatMetric(mean))
  ].filter(Boolean);
  return (
    <tr
      aria-rowindex={index + 2}
      data-index={index}
      className="jp-t9k-Runs-group"
    >
      <td role="gridcell" tabIndex={-1}>
        <Check
          label={trans.__('Select all runs of %1', name)}
          checked={count === 0 ? false : count === runs.length ? true : null}
          onChange={() => props.onSelect(runs, count < runs.length)}
        />
      </td>
      <td role="gridcell" tabIndex={-1} colSpan={span - 1}>
        <button
          type="button"
          tabIndex={-1}
          aria-expanded={isOpen}
          onClick={() => props.onToggle(label)}
        >
          <Icon of={isOpen ? caretDownIcon : caretRightIcon} size={16} />
          <strong>{name === '' ? trans.__('(empty)') : name}</strong>
          <span className="jp-t9k-secondary">
            {runsText(runs.length, trans)}
            {metric && values.length > 0
              ? ` · ${trans.__('%1: %2', metric.name, listed(values))}`
              : ''}
          </span>
        </button>
      </td>
    </tr>
  );
}
