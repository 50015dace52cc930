/** Component for an icon of JupyterLab or of this extension. */

import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

interface IIconProps {
  of: LabIcon;
  /** Width and height in px; the style sheet's size by default. */
  size?: number;
}

/** An icon. It is memoized because JupyterLab's component connects to a signal on every rendering. */
export const Icon = React.memo(({ of, size }: IIconProps) => {
  const extent = size && { width: `${size}px`, height: `${size}px` };
  return <of.react tag="span" {...extent} />;
});
Icon.displayName = 'Icon';
