/** Field that filters a list by a text. */
import { searchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';

interface IFilterFieldProps {
  /** Accessible name and placeholder. */
  label: string;
  value: string;
  onChange(value: string): void;
}

/** A search field. Escape clears it. */
export function FilterField(props: IFilterFieldProps): React.JSX.Element {
  const { label, value, onChange } = props;
  return (
    <span className="jp-t9k-Filter-field jp-t9k-RunFilter">
      <span aria-hidden>
        <Icon of={searchIcon} size={16} />
      </span>
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape' && value) {
            onChange('');
            event.stopPropagation();
          }
        }}
      />
    </span>
  );
}
