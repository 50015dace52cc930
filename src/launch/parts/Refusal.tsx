/** Message about a job that the cluster refused. */
import * as React from 'react';
import { CopyButton } from '../../ui/CopyButton';
import { useLaunch, useModel } from './context';

/** The extension's message about the refusal, followed by the cluster's own message. */
export function Refusal(): React.JSX.Element | null {
  const { trans } = useLaunch();
  const refusal = useModel(({ state }) => state.refusal);
  if (!refusal?.verbatim) {
    return null;
  }
  const { message, hint, verbatim } = refusal;
  return (
    <div className="jp-t9k-Launch-refusal" role="alert">
      <p>
        <strong>{message}</strong> {hint}
      </p>
      <pre tabIndex={0}>{verbatim}</pre>
      <CopyButton
        kind="link"
        label={trans.__('Copy details')}
        text={[message, hint, verbatim].filter(Boolean).join('\n')}
        trans={trans}
      />
    </div>
  );
}
