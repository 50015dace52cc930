/** Pane that chooses the columns of the table. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LinkButton } from '../../ui/Buttons';
import { defaultKeys, IJobColumn } from '../model/columns';
import { JobTableModel } from '../model/table';
import { columnLabel, columnTitle } from './text';

interface IColumnsPaneProps {
  model: JobTableModel;
  onClose(): void;
  trans: TranslationBundle;
}

/** Lists all columns: facts of the jobs, and the metrics that jobs report. */
export function ColumnsPane({
  model,
  onClose,
  trans
}: IColumnsPaneProps): React.JSX.Element {
  const [search, setSearch] = React.useState('');
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
    columnLabel(column, trans).toLowerCase().includes(search.toLowerCase());
  return (
    <div
      role="dialog"
      aria-label={trans.__('Columns')}
      className="jp-t9k-Runs-pane"
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onClose();
        }
      }}
      onBlur={event => {
        const to = event.relatedTarget;
        if (to && !event.currentTarget.contains(to)) {
          onClose();
        }
      }}
    >
      <input
        type="search"
        autoFocus
        aria-label={trans.__('Find a column')}
        placeholder={trans.__('Find a column')}
        value={search}
        onChange={event => setSearch(event.target.value)}
      />
      <div className="jp-t9k-Runs-paneList">
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
      </div>
      <LinkButton onClick={() => model.change({ columns: null })}>
        {trans.__('Back to the default')}
      </LinkButton>
    </div>
  );
}
