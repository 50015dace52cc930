/** Component for a view whose content is being read or could not be read. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Button } from './Buttons';
import { EmptyState } from './EmptyState';
import { errorIcon } from './icons';
import { sentences } from '../common/format';

interface ILoadStateProps {
  /** Why the content could not be read; null while it is being read. */
  failure: { message: string; hint?: string | null } | null;
  /** Says that the content could not be read. */
  title: string;
  /** Says that the content is being read. */
  waiting: string;
  retry(): void;
  trans: TranslationBundle;
}

/** The state of a view without content: a message while it loads, or the error with a button that tries again. */
export function LoadState(props: ILoadStateProps): React.JSX.Element {
  const { failure, title, waiting, retry, trans } = props;
  return failure ? (
    <EmptyState
      icon={errorIcon}
      title={title}
      actions={
        <Button kind="primary" onClick={retry}>
          {trans.__('Try again')}
        </Button>
      }
    >
      <p>{sentences([failure.message, failure.hint])}</p>
    </EmptyState>
  ) : (
    <p className="jp-t9k-Deferred-wait" role="status">
      {waiting}
    </p>
  );
}
