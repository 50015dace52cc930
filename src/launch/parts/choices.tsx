import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { useField } from './Row';

interface ISelectProps extends React.SelectHTMLAttributes<HTMLSelectElement> {
  children: React.ReactNode;
}

/** A choice from a list. */
export function Select({
  children,
  ...props
}: ISelectProps): React.JSX.Element {
  return (
    <span className="jp-t9k-Launch-select">
      <select {...props}>{children}</select>
      <Icon of={caretDownIcon} />
    </span>
  );
}

interface ICheckFieldProps {
  field: string;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
  children: React.ReactNode;
}

/** A box to tick, with its words behind it. */
export function CheckField({
  field,
  checked,
  onChange,
  disabled,
  children
}: ICheckFieldProps): React.JSX.Element {
  return (
    <label className="jp-t9k-Launch-check">
      <input
        type="checkbox"
        {...useField(field)}
        disabled={disabled}
        checked={checked}
        onChange={event => onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}
