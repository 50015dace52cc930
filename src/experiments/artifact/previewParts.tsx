/** Parts of previews: tables, tensors, text. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Preview } from '../../api/types';
import { formatBytes, formatCount } from '../../common/format';

interface IPartProps {
  preview: Preview;
  trans: TranslationBundle;
}

/** The first rows of a table. */
export function PreviewTable({
  preview: { columns, rows, truncated },
  trans
}: IPartProps): React.JSX.Element {
  return (
    <>
      <Scrolled label={trans.__('Table')}>
        <table className="jp-t9k-Table">
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th
                  key={index}
                  scope="col"
                  className={numberClass(rows[0]?.[index])}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((value, column) => (
                  <td key={column} className={numberClass(value)}>
                    {value === null ? '' : String(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      {truncated && (
        <p className="jp-t9k-secondary">
          {trans.__(
            'Only the first %1 rows are shown.',
            formatCount(rows.length)
          )}
        </p>
      )}
    </>
  );
}

/** Return the class of a cell: numbers are aligned at the right. */
function numberClass(value: unknown): string | undefined {
  const isNumber =
    typeof value === 'number' ||
    (typeof value === 'string' &&
      value.trim() !== '' &&
      Number.isFinite(Number(value)));
  return isNumber ? 'jp-t9k-Table-number' : undefined;
}

/** Names and shapes of tensors. */
export function Tensors({ preview, trans }: IPartProps): React.JSX.Element {
  const { tensors, tensor_count: count, parameter_count: elements } = preview;
  const countText = trans._n('%1 tensor', '%1 tensors', count);
  return (
    <>
      <p className="jp-t9k-secondary">
        {trans.__('%1, %2 elements', countText, formatCount(elements))}
      </p>
      <Scrolled label={trans.__('Tensors')}>
        <table className="jp-t9k-Table">
          <thead>
            <tr>
              <th scope="col">{trans.__('Tensor')}</th>
              <th scope="col">{trans.__('Type')}</th>
              <th scope="col">{trans.__('Shape')}</th>
              <th scope="col" className="jp-t9k-Table-number">
                {trans.__('Size')}
              </th>
            </tr>
          </thead>
          <tbody>
            {tensors.map(({ name, dtype, shape, size }, index) => (
              <tr key={index}>
                <td>
                  <code>{name}</code>
                </td>
                <td>{dtype}</td>
                <td>{shape.join(' × ')}</td>
                <td className="jp-t9k-Table-number">{formatBytes(size)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      {count > tensors.length && (
        <p className="jp-t9k-secondary">
          {trans.__('Only the first %1 tensors are shown.', tensors.length)}
        </p>
      )}
    </>
  );
}

/** Text as it is. */
export function PreviewText({ text }: { text: string }): React.JSX.Element {
  return <pre tabIndex={0}>{text}</pre>;
}

/** A wide part that scrolls by itself; it can be focused, so that keys scroll it. */
function Scrolled(props: {
  label: string;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <div
      className="jp-t9k-Preview-scroll"
      role="region"
      aria-label={props.label}
      tabIndex={0}
    >
      {props.children}
    </div>
  );
}
