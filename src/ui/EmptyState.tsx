import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from './Icon';

interface IEmptyStateProps {
  icon?: LabIcon;
  title: string;
  /** What to do, or why there is nothing. */
  children?: React.ReactNode;
  actions?: React.ReactNode;
}

/** A view that has nothing to show, and says why. */
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
