/** Component for a notice at the top of a view. */

import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { errorIcon, hintIcon, warningIcon } from './icons';
import { Icon } from './Icon';

/** Severity of a banner; `info` requires no action. */
export type BannerLevel = 'error' | 'warning' | 'info';

const icons: Record<BannerLevel, LabIcon> = {
  error: errorIcon,
  warning: warningIcon,
  info: hintIcon
};

interface IBannerProps {
  level: BannerLevel;
  /** The fact, as a sentence; shown in bold. */
  title: React.ReactNode;
  /** The cause, and what the user can do. */
  children?: React.ReactNode;
  /** Buttons of the kind `LinkButton`. */
  actions?: React.ReactNode;
}

/** A notice at the top of the view that it refers to. The view removes the banner when the cause is gone. */
export function Banner({
  level,
  title,
  children,
  actions
}: IBannerProps): React.JSX.Element {
  return (
    <div
      className="jp-t9k-Banner"
      data-level={level}
      role={level === 'error' ? 'alert' : 'status'}
    >
      <span className="jp-t9k-Banner-icon" aria-hidden>
        <Icon of={icons[level]} size={16} />
      </span>
      <div className="jp-t9k-Banner-text">
        <strong>{title}</strong> {children}
      </div>
      {actions && <div className="jp-t9k-Banner-actions">{actions}</div>}
    </div>
  );
}
