/** Component for a view without content. */

import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from './Icon';

interface IEmptyStateProps {
  icon?: LabIcon;
  title: string;
  /** Why the view is empty, or what the user can do. */
  children?: React.ReactNode;
  actions?: React.ReactNode;
}

/** A view without content: an icon, a title, an explanation and buttons. */
export function EmptyState({
  icon,
  title,
  children,
  actions
}: IEmptyStateProps): React.JSX.Element {
  return (
    <div className="jp-t9k-EmptyState">
      {icon && <Icon of={icon} size={32} />}
      <h2>{title}</h2>
      {children}
      {actions && <div className="jp-t9k-EmptyState-actions">{actions}</div>}
    </div>
  );
}
