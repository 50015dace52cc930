/** Message for a missing TensorBoard. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ApiError } from '../../api/errors';
import { tensorBoardIcon } from '../../ui/icons';
import { Button } from '../../ui/Buttons';
import { CopyButton } from '../../ui/CopyButton';
import { EmptyState } from '../../ui/EmptyState';
import { TensorBoardModel } from '../model/board';

interface INotInstalledProps {
  model: TensorBoardModel;
  error: ApiError;
  trans: TranslationBundle;
}

/** Shows why TensorBoard cannot be started, and the command that installs it. */
export function NotInstalled({
  model,
  error,
  trans
}: INotInstalledProps): React.JSX.Element {
  const [install, setInstall] = React.useState<string | null>(null);
  React.useEffect(() => {
    let mounted = true;
    model.jobs.api.tensorBoards().then(
      list => mounted && setInstall(list.install),
      (reason: unknown) => console.warn('t9kjob: TensorBoards:', reason)
    );
    return () => {
      mounted = false;
    };
  }, [model, error]);
  return (
    <EmptyState
      icon={tensorBoardIcon}
      title={error.message}
      actions={
        <>
          {install && (
            <CopyButton
              kind="button"
              text={install}
              label={trans.__('Copy the command')}
              trans={trans}
            />
          )}
          <Button onClick={() => void model.open()}>
            {trans.__('Try again')}
          </Button>
        </>
      }
    >
      {install ? (
        <>
          <p>{trans.__('Run this in a terminal, then try again:')}</p>
          <pre className="jp-t9k-Verbatim">{install}</pre>
        </>
      ) : (
        error.hint && <p>{error.hint}</p>
      )}
      {error.verbatim && (
        <pre className="jp-t9k-Verbatim">{error.verbatim}</pre>
      )}
    </EmptyState>
  );
}
