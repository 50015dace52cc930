/** Buttons that open a menu: one shows the current choice, the other an ellipsis. */
import { caretDownEmptyIcon, ellipsesIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IMenuItem, openMenu } from '../common/menu';
import { IconButton } from './Buttons';
import { Icon } from './Icon';

/** Button that shows a choice and opens a menu. */
export function MenuButton({
  label,
  items,
  children
}: {
  label: string;
  items(): (IMenuItem | null)[];
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <button
      type="button"
      className="jp-t9k-Button jp-t9k-Runs-choice"
      aria-haspopup="menu"
      onClick={event => openMenu(event.currentTarget, items())}
    >
      <span className="jp-t9k-visuallyHidden">{label}</span>
      {children}
      <Icon of={caretDownEmptyIcon} size={16} />
    </button>
  );
}

/** Button with an ellipsis that opens a menu of further actions. */
export function MoreButton({
  label,
  items,
  disabled
}: {
  label: string;
  items(): readonly (IMenuItem | null)[];
  disabled?: boolean;
}): React.JSX.Element {
  return (
    <IconButton
      icon={ellipsesIcon}
      label={label}
      aria-haspopup="menu"
      disabled={disabled}
      onClick={event => openMenu(event.currentTarget, items())}
    />
  );
}
