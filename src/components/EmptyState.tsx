import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

interface IEmptyStateProps {
  icon?: LabIcon;
  title: string;
  /** What to do, or why there is nothing. */
  children?: React.ReactNode;
  actions?: React.ReactNode;
}

/** A view that has nothing to show, and says why. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  actions
}: IEmptyStateProps): React.JSX.Element {
  return (
    <div className="jp-t9k-EmptyState">
      {Icon && <Icon.react tag="span" width="32px" height="32px" />}
      <h2>{title}</h2>
      {children}
      {actions && <div className="jp-t9k-EmptyState-actions">{actions}</div>}
    </div>
  );
}
