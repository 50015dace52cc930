/** Fields for whole numbers. */
import {
  caretDownEmptyThinIcon,
  caretUpEmptyThinIcon,
  LabIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { largestNumber } from '../content/locks';
import { useDraft, useLaunch, useLock } from './context';
import { useField } from './Row';

/** Properties of a spinner. */
interface ISpinnerProps extends Omit<
  React.InputHTMLAttributes<HTMLInputElement>,
  'onChange'
> {
  text: string;
  onChange(text: string): void;
  min?: number;
  max?: number;
  /** Number from which the buttons count while the field is empty. */
  start?: number;
  /** True to leave the buttons out. The arrow keys count as well. */
  bare?: boolean;
}

/** Text field for a whole number, with buttons that increase and decrease it. The text is not validated. */
export function Spinner({
  text,
  onChange,
  min = -Infinity,
  max = Infinity,
  start = 0,
  bare = false,
  ...props
}: ISpinnerProps): React.JSX.Element {
  const { trans } = useLaunch();
  const step = (by: number) => {
    const now = /^[+-]?\d+$/.test(text) ? Number(text) : start;
    onChange(String(Math.min(max, Math.max(min, now + by))));
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by && !props.readOnly) {
      event.preventDefault();
      step(by);
    }
  };
  const button = (by: number, label: string, icon: LabIcon) => (
    <button
      type="button"
      tabIndex={-1} // the arrow keys count as well
      aria-label={label}
      disabled={props.disabled || props.readOnly}
      onClick={() => step(by)}
    >
      <Icon of={icon} />
    </button>
  );
  return (
    <span className="jp-t9k-Launch-spinner">
      <input
        type="text"
        role="spinbutton"
        inputMode="numeric"
        autoComplete="off"
        aria-valuenow={/^[+-]?\d+$/.test(text) ? Number(text) : undefined}
        {...props}
        value={text}
        onChange={event => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {!bare && (
        <span>
          {button(
            1,
            trans._p('button beside a number', 'More'),
            caretUpEmptyThinIcon
          )}
          {button(
            -1,
            trans._p('button beside a number', 'Less'),
            caretDownEmptyThinIcon
          )}
        </span>
      )}
    </span>
  );
}

/** Properties of a number's field. */
interface INumberFieldProps {
  field: string;
  value: number | null;
  min: number;
  max: number;
  onChange(value: number): void;
  /** Called when the user empties the field. Without it the field can't be empty. */
  onClear?(): void;
  'aria-label'?: string;
  disabled?: boolean;
}

/** Field for a whole number of the spec. Its width follows the number's length. */
export function NumberField({
  field,
  value,
  min,
  max,
  onChange,
  onClear,
  ...props
}: INumberFieldProps): React.JSX.Element {
  const { model, trans } = useLaunch();
  const most = Math.min(max, largestNumber(useLock(field)) ?? max);
  const text = useDraft(field) ?? String(value ?? '');
  return (
    <Spinner
      {...useField(field)}
      {...props}
      text={text}
      min={min}
      max={most}
      style={{ width: `calc(${Math.max(4, text.length + 1)}ch + 40px)` }}
      onChange={next => {
        const number = Number(next);
        if (/^\d+$/.test(next) && number >= min && number <= max) {
          onChange(number);
        } else if (!next.trim() && onClear) {
          onClear();
        } else {
          const problem = trans.__('A whole number from %1 to %2.', min, max);
          model.setDraft(field, { text: next, problem });
        }
      }}
    />
  );
}
