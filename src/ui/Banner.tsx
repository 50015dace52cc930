import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { errorIcon, hintIcon, warningIcon } from './icons';
import { Icon } from './Icon';

/** How bad it is; `info` wants nothing from the reader. */
export type BannerLevel = 'error' | 'warning' | 'info';

const icons: Record<BannerLevel, LabIcon> = {
  error: errorIcon,
  warning: warningIcon,
  info: hintIcon
};

interface IBannerProps {
  level: BannerLevel;
  /** What is the case, a bold sentence. */
  title: React.ReactNode;
  /** Why, and what to do. */
  children?: React.ReactNode;
  /** `LinkButton`s. */
  actions?: React.ReactNode;
}

/** A notice at the top of the view that it speaks of; goes away with its cause. */
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
