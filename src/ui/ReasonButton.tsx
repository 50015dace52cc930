/** Button that can be disabled with a reason. */
import * as React from 'react';
import { Button } from './Buttons';

/** Button that is disabled with a reason. */
export function ReasonButton({
  problem,
  onClick,
  ...props
}: React.ComponentProps<typeof Button> & {
  /** Why the button is disabled; null if it is enabled. */
  problem: string | null;
  onClick(): void;
}): React.JSX.Element {
  const id = React.useId();
  return (
    <>
      <Button
        {...props}
        title={problem ?? undefined}
        aria-disabled={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : id}
        onClick={() => problem === null && onClick()}
      />
      {problem !== null && (
        <span id={id} className="jp-t9k-visuallyHidden">
          {problem}
        </span>
      )}
    </>
  );
}
