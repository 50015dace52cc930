/** Box that selects rows. */
import { checkIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../Icon';

interface ICheckProps {
  /** Accessible name. */
  label: string;
  /** Null if some of the rows are selected. */
  checked: boolean | null;
  onChange(event: React.MouseEvent): void;
}

/** A box that the keyboard of the grid reaches: a button with the role of a box. */
export function Check({
  label,
  checked,
  onChange
}: ICheckProps): React.JSX.Element {
  return (
    <button
      type="button"
      role="checkbox"
      className="jp-t9k-Runs-check"
      aria-label={label}
      aria-checked={checked ?? 'mixed'}
      tabIndex={-1}
      onClick={event => {
        event.stopPropagation();
        onChange(event);
      }}
    >
      <span>{checked && <Icon of={checkIcon} size={12} />}</span>
    </button>
  );
}
