/** Bar of a capacity's shares. */
import * as React from 'react';
import { IShares } from '../model/capacity';

/**
 * Shows the shares of a capacity: the user's own (blue), others' (grey), unusable (hatched) and free (empty).
 */
export function CapacityBar({
  shares
}: {
  shares: IShares;
}): React.JSX.Element {
  const mine = Math.min(1, shares.mine);
  const others = Math.min(1 - mine, shares.others);
  const out = Math.min(1 - mine - others, shares.out);
  return (
    <span className="jp-t9k-CapacityBar" aria-hidden>
      {Object.entries({ mine, others, out }).map(([part, share]) => (
        <span
          key={part}
          data-part={part}
          style={{ width: `${share * 100}%` }}
        />
      ))}
    </span>
  );
}
