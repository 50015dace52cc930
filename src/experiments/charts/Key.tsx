/** Sample of a line in a legend. */
import * as React from 'react';
import { colourName, dashOf } from './palette';

/** A short piece of a line, with its colour and dash. */
export function Key({ style }: { style: number }): React.JSX.Element {
  return (
    <svg className="jp-t9k-Key" width={20} height={8} aria-hidden>
      <line
        x1={0}
        x2={20}
        y1={4}
        y2={4}
        strokeWidth={2}
        strokeDasharray={dashOf(style).join(' ')}
        style={{ stroke: `var(${colourName(style)})` }}
      />
    </svg>
  );
}
