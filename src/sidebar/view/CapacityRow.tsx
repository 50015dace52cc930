/** Row of one resource in the capacity section. */

import * as React from 'react';
import { IShares } from '../../cluster/model/capacity';
import { CapacityBar } from '../../cluster/view/CapacityBar';

/** A resource: its name, a bar of its usage, and its free amount. */
export function CapacityRow(props: {
  name: string;
  /** Shares of the bar; null if the total amount is not known. */
  shares: IShares | null;
  title: string;
  /** The bar's content in words, for screen readers; `title` by default. */
  said?: string;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <div className="jp-t9k-Capacity-row" title={props.title}>
      <span className="jp-t9k-Capacity-name">{props.name}</span>
      {props.shares ? <CapacityBar shares={props.shares} /> : <span />}
      <span className="jp-t9k-Capacity-value">
        {props.children}
        <span className="jp-t9k-visuallyHidden">
          {' '}
          {props.said ?? props.title}
        </span>
      </span>
    </div>
  );
}
