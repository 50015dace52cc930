/** Buttons: with text, with an icon, and in the style of a link. */

import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from './Icon';

type ButtonProps = Omit<
  React.ButtonHTMLAttributes<HTMLButtonElement>,
  'className' | 'type'
>;

interface IButtonProps extends ButtonProps {
  /** A view has at most one `primary` button. */
  kind?: 'plain' | 'primary' | 'destructive';
  icon?: LabIcon;
}

/** A button whose label starts with a verb. */
export function Button({
  kind = 'plain',
  icon,
  children,
  ...props
}: IButtonProps): React.JSX.Element {
  return (
    <button type="button" className="jp-t9k-Button" data-kind={kind} {...props}>
      {icon && <Icon of={icon} size={16} />}
      {children}
    </button>
  );
}

interface IIconButtonProps extends ButtonProps {
  /** Null in a row whose icons are not drawn yet. */
  icon: LabIcon | null;
  /** Accessible name and tooltip. */
  label: string;
}

/** A 24 × 24 button with a 16 px icon. */
export function IconButton({
  icon,
  label,
  ...props
}: IIconButtonProps): React.JSX.Element {
  return (
    <button
      type="button"
      className="jp-t9k-IconButton"
      aria-label={label}
      title={label}
      {...props}
    >
      {icon && <Icon of={icon} size={16} />}
    </button>
  );
}

/** A button in the style of a link, for banners, empty states and sentences. */
export function LinkButton(props: ButtonProps): React.JSX.Element {
  return <button type="button" className="jp-t9k-LinkButton" {...props} />;
}
