/** Editor of name–value pairs. */
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { LaunchModel } from '../model/launch';
import { IPair } from '../content/form';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { fixingLock } from '../content/locks';
import { useFixed, useLaunch, useModel } from './context';
import { Row } from './Row';
import { TextField } from './TextField';

/** Properties of an editor of pairs. */
interface IPairsFieldProps {
  field: string;
  /** Return the rows from the model. */
  read(model: LaunchModel): readonly IPair[];
  onChange(rows: IPair[]): void;
  /** Label of the button that adds a row. */
  add: string;
  caption?: React.ReactNode;
}

/** Editor of labels: one row per name and value. */
export function PairsField({
  field,
  read,
  onChange,
  add,
  caption
}: IPairsFieldProps): React.JSX.Element {
  const { trans, reveal } = useLaunch();
  const rows = useModel(read);
  const isFixed = useFixed(field) !== null;
  const fixedRows = useModel(({ locks }) =>
    rows.map((_, index) => fixingLock(locks, `${field}/${index}`) !== null)
  );
  const change = (index: number, changes: Partial<IPair>) =>
    onChange(
      rows.map((row, i) => (i === index ? { ...row, ...changes } : row))
    );
  const remove = (index: number) => {
    onChange(rows.filter((_, i) => i !== index));
    reveal(rows.length > 1 ? `${field}/${Math.max(0, index - 1)}/name` : field);
  };
  return (
    <Row
      field={field}
      group
      caption={caption}
      others={rows.map((_, index) => `${field}/${index}/name`)}
    >
      <div className="jp-t9k-Launch-pairs">
        {rows.map((row, index) => (
          <div key={index} className="jp-t9k-Launch-line">
            <TextField
              code
              field={`${field}/${index}/name`}
              value={row.name}
              aria-label={trans.__('Name of label %1', index + 1)}
              placeholder={trans.__('name')}
              onChange={name => change(index, { name })}
            />
            <span>=</span>
            <TextField
              code
              field={`${field}/${index}/value`}
              value={row.value}
              aria-label={trans.__('Value of %1', row.name || index + 1)}
              placeholder={trans.__('value')}
              onChange={value => change(index, { value })}
            />
            {!fixedRows[index] && (
              <IconButton
                icon={closeIcon}
                label={
                  row.name
                    ? trans.__('Remove %1', row.name)
                    : trans.__('Remove label')
                }
                onClick={() => remove(index)}
              />
            )}
          </div>
        ))}
        {!isFixed && (
          <LinkButton
            data-field={field}
            onClick={() => {
              onChange([...rows, { name: '', value: '' }]);
              reveal(`${field}/${rows.length}/name`);
            }}
          >
            {add}
          </LinkButton>
        )}
      </div>
    </Row>
  );
}
