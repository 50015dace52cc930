/** Controls of the launch form with fixed choices. */
import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { ISegmentsProps, Segments } from '../../ui/Segments';
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
  // HTML has no read-only lists: the keys and clicks that would open or change the list have no effect.
  const ignored = {
    'aria-readonly': true,
    onChange: () => undefined,
    onMouseDown: (event: React.MouseEvent) => event.preventDefault(),
    onKeyDown: (event: React.KeyboardEvent) =>
      event.key === 'Tab' || event.preventDefault()
  };
  return (
    <span className="jp-t9k-Launch-select">
      <select {...others} {...(readOnly && ignored)}>
        {children}
      </select>
      <Icon of={caretDownIcon} />
    </span>
  );
}

/** Segmented control of a field. */
export function SegmentsField<Value extends string>({
  field,
  ...props
}: ISegmentsProps<Value> & { field: string }): React.JSX.Element {
  const described = useField(field);
  return (
    <Segments
      aria-describedby={described['aria-describedby']}
      readOnly={described.readOnly}
      data-field={field}
      {...props}
    />
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
        aria-readonly={readOnly}
        disabled={disabled}
        checked={checked}
        onChange={event => readOnly || onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}
