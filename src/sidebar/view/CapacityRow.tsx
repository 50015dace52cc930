import * as React from 'react';
import { IShares } from '../../cluster/model/capacity';
import { CapacityBar } from '../../cluster/view/CapacityBar';

/** One resource of the capacity strip: its name, who has what of it, and what is free. */
export function CapacityRow(props: {
  name: string;
  /** Null where the whole is not known. */
  shares: IShares | null;
  title: string;
  /** What the bar says, in words; else the title does. */
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
