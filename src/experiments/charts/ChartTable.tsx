/** The values of a chart as a table. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { XAxis } from '../types';
import { IDrawing } from './drawing';
import { join } from './lines';
import { formatValue } from './numbers';
import { axisName, axisText } from './text';

/** Rows of a table; the file of values has the rest. */
const MOST_ROWS = 200;

interface IChartTableProps {
  drawing: IDrawing;
  x: XAxis;
  title: string;
  trans: TranslationBundle;
}

/** Table of the values that a chart draws, for screen readers and for reading. */
export function ChartTable(props: IChartTableProps): React.JSX.Element {
  const { drawing, x, title, trans } = props;
  const label = trans.__('Values of %1', title);
  const rows = React.useMemo(() => rowsOf(drawing), [drawing]);
  return (
    <div
      className="jp-t9k-ChartTable"
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <table className="jp-t9k-Table" aria-label={label}>
        <thead>
          <tr>
            <th scope="col" className="jp-t9k-Table-number">
              {axisName(x, trans)}
            </th>
            {drawing.lines.map(({ key, label }) => (
              <th key={key} scope="col" className="jp-t9k-Table-number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(({ at, values }, index) => (
            <tr key={index}>
              <th scope="row" className="jp-t9k-Table-number">
                {axisText(at, x, trans)}
              </th>
              {values.map((value, line) => (
                <td key={line} className="jp-t9k-Table-number">
                  {value === undefined ? '' : formatValue(value ?? 'nan')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && (
        <p className="jp-t9k-caption">
          {trans.__(
            'The first %1 of %2 drawn values. Save the values to see all.',
            MOST_ROWS,
            rows.length
          )}
        </p>
      )}
    </div>
  );
}

/** A row of the table: the values of all lines at an x value. */
interface IRow {
  at: number;
  values: (number | null | undefined)[];
}

function rowsOf({ parts }: IDrawing): IRow[] {
  const { x, y } = join(parts.flat());
  const owner = parts.flatMap((own, line) => own.map(() => line));
  return x.map((at, row) => ({
    at,
    values: parts.map(
      (_, line) =>
        y.find(
          (values, part) => owner[part] === line && values[row] !== undefined
        )?.[row]
    )
  }));
}
