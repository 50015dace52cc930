/** List of the columns that the table of jobs can show. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { defaultKeys, IJobColumn } from '../model/columns';
import { JobTableModel } from '../model/table';
import { columnLabel, columnTitle } from './text';

interface IColumnListProps {
  model: JobTableModel;
  /** Text in the names of the listed columns, in lower case. */
  search: string;
  trans: TranslationBundle;
}

/** Lists the facts of jobs, and the metrics that jobs report. */
export function ColumnList({
  model,
  search,
  trans
}: IColumnListProps): React.JSX.Element {
  const all = model.allColumns;
  const groups = [
    {
      title: trans.__('Job'),
      columns: all.filter(({ kind }) => kind !== 'metric')
    },
    {
      title: trans.__('Metrics, last value'),
      columns: all.filter(({ kind }) => kind === 'metric')
    }
  ];
  const shown = new Set(model.view.columns ?? defaultKeys(all));
  const toggle = (key: string): void => {
    if (!shown.delete(key)) {
      shown.add(key);
    }
    model.change({ columns: [...shown] });
  };
  const isFound = (column: IJobColumn): boolean =>
    columnLabel(column, trans).toLowerCase().includes(search);
  return (
    <>
      {groups.map(({ title, columns }) => {
        const found = columns.filter(isFound);
        return found.length === 0 ? null : (
          <fieldset key={title}>
            <legend>{title}</legend>
            {found.map(column => (
              <div key={column.key}>
                <label title={columnTitle(column, trans)}>
                  <input
                    type="checkbox"
                    checked={shown.has(column.key)}
                    onChange={() => toggle(column.key)}
                  />
                  <span>{columnLabel(column, trans)}</span>
                </label>
              </div>
            ))}
          </fieldset>
        );
      })}
    </>
  );
}
