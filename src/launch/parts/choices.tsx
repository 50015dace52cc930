/** Controls of the launch form with fixed choices. */
import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { useField } from './Row';

/** Properties of a list. */
interface ISelectProps extends React.SelectHTMLAttributes<HTMLSelectElement> {
  /** True if the administrator has set the value. */
  readOnly?: boolean;
  children: React.ReactNode;
}

/** List from which the user selects one value. */
export function Select({
  children,
  ...props
}: ISelectProps): React.JSX.Element {
  const { readOnly, ...others } = props;
  return (
    <span className="jp-t9k-Launch-select">
      <select {...others} disabled={props.disabled || readOnly}>
        {children}
      </select>
      <Icon of={caretDownIcon} />
    </span>
  );
}

/** Properties of a checkbox. */
interface ICheckFieldProps {
  field: string;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
  children: React.ReactNode;
}

/** Checkbox of a field, with its text. */
export function CheckField({
  field,
  checked,
  onChange,
  disabled,
  children
}: ICheckFieldProps): React.JSX.Element {
  const { readOnly, ...described } = useField(field);
  return (
    <label className="jp-t9k-Launch-check">
      <input
        type="checkbox"
        {...described}
        disabled={disabled || readOnly}
        checked={checked}
        onChange={event => onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}
