import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

interface IIconProps {
  of: LabIcon;
  /** Width and height in px; by default what the style says. */
  size?: number;
}

/** An icon of the lab; the lab’s own component connects to a signal anew whenever it is rendered. */
export const Icon = React.memo(({ of, size }: IIconProps) => {
  const extent = size && { width: `${size}px`, height: `${size}px` };
  return <of.react tag="span" {...extent} />;
});
Icon.displayName = 'Icon';
