/** List of the columns that the table of runs can show. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { openMenu } from '../../../common/menu';
import { LinkButton } from '../../../ui/Buttons';
import { defaultKeys, ITableColumn } from '../../model/columns';
import { ExperimentsModel } from '../../model/experiments';
import { metricMenu } from '../metricMenu';
import { columnLabel, modeText } from '../text';

/** Columns of a group that are listed before the user asks for all. */
const FEW = 8;

interface IColumnListProps {
  model: ExperimentsModel;
  /** Text in the names of the listed columns, in lower case. */
  search: string;
  trans: TranslationBundle;
}

/** Lists all columns by kind. Hyperparameters that differ between the runs come first. */
export function ColumnList(props: IColumnListProps): React.JSX.Element {
  const { model, trans } = props;
  const all = model.allColumns;
  const parameters = all.filter(({ kind }) => kind === 'parameter');
  const differing = parameters.filter(({ distinct }) => distinct > 1);
  const of = (...kinds: ITableColumn['kind'][]): readonly ITableColumn[] =>
    all.filter(({ kind }) => kinds.includes(kind));
  const groups = [
    {
      title: trans.__('Run'),
      columns: of('status', 'job', 'started', 'duration', 'folder')
    },
    {
      title: trans.__(
        'Hyperparameters that differ, %1 of %2',
        differing.length,
        parameters.length
      ),
      columns: differing
    },
    {
      title: trans.__('Hyperparameters that are equal'),
      columns: parameters.filter(({ distinct }) => distinct <= 1)
    },
    { title: trans.__('Metrics'), columns: of('metric') },
    { title: trans.__('Environment'), columns: of('environment') },
    {
      title: trans._p('columns', 'More'),
      columns: of('curve', 'tags', 'labels', 'note')
    }
  ];
  return (
    <>
      {groups.map(({ title, columns }) => (
        <ColumnGroup key={title} {...props} title={title} columns={columns} />
      ))}
    </>
  );
}

function ColumnGroup({
  model,
  title,
  columns,
  search,
  trans
}: IColumnListProps & {
  title: string;
  columns: readonly ITableColumn[];
}): React.JSX.Element | null {
  const [isLong, setLong] = React.useState(false);
  const shown = new Set(model.view.columns ?? defaultKeys(model.allColumns));
  const found = columns.filter(column =>
    columnLabel(column, trans).toLowerCase().includes(search)
  );
  const listed = isLong || search ? found.slice(0, 500) : found.slice(0, FEW);
  const toggle = (key: string): void => {
    if (!shown.delete(key)) {
      shown.add(key);
    }
    model.change({ columns: [...shown] });
  };
  return found.length === 0 ? null : (
    <fieldset>
      <legend>{title}</legend>
      {listed.map(column => (
        <div key={column.key}>
          <label>
            <input
              type="checkbox"
              checked={shown.has(column.key)}
              onChange={() => toggle(column.key)}
            />
            <span>{columnLabel(column, trans)}</span>
          </label>
          {column.kind === 'metric' ? (
            <MetricChoice model={model} column={column} trans={trans} />
          ) : (
            column.distinct > 1 && (
              <small className="jp-t9k-caption">
                {trans._n('%1 value', '%1 values', column.distinct)}
              </small>
            )
          )}
        </div>
      ))}
      {listed.length < found.length && !search && (
        <LinkButton onClick={() => setLong(true)}>
          {trans._n('%1 more', '%1 more', found.length - listed.length)}
        </LinkButton>
      )}
    </fieldset>
  );
}

/** Button with the value of a metric that the table shows. */
function MetricChoice({
  model,
  column,
  trans
}: {
  model: ExperimentsModel;
  column: ITableColumn;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <button
      type="button"
      className="jp-t9k-LinkButton"
      aria-haspopup="menu"
      onClick={event =>
        openMenu(event.currentTarget, metricMenu(model, column, trans))
      }
    >
      <small>{modeText(column, trans)}</small>
    </button>
  );
}
