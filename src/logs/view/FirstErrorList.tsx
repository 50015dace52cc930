/** List of the first error of each rank. */
import { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { formatMilliseconds } from '../../common/format';
import { useSignal } from '../../common/hooks';
import { IconButton } from '../../ui/Buttons';
import { FirstErrors, IRankError } from '../model/firstErrors';
import { LogModel } from '../model/log';

/** Maximum number of ranks in the list. */
const MOST_RANKS = 200;

/** Time between two searches of what was written since, in milliseconds. */
const AGAIN_MS = 5000;

/** Props of `FirstErrorList`. */
interface IFirstErrorListProps {
  log: LogModel;
  trans: TranslationBundle;
  close(): void;
}

/** Shows rank, time and text of each rank's first error; a click goes to the error. */
export function FirstErrorList({
  log,
  trans,
  close
}: IFirstErrorListProps): React.JSX.Element {
  const [errors] = React.useState(() => new FirstErrors(log));
  useSignal(errors.changed);
  const chosen = log.chosen.map(stream => stream.id).join();
  const { connected } = log;
  React.useEffect(() => {
    if (connected && chosen) {
      void errors.find();
    }
    return () => errors.cancel();
  }, [errors, connected, chosen]);
  // A running job writes more; the server continues where it was.
  React.useEffect(() => {
    const timer = window.setInterval(() => {
      if (!errors.pending) {
        void errors.findMore();
      }
    }, AGAIN_MS);
    return () => window.clearInterval(timer);
  }, [errors]);
  const label = trans.__('First error of each rank');
  const more = errors.errors.length - MOST_RANKS;
  return (
    <section
      className="jp-t9k-FirstErrors"
      aria-label={label}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
      }}
    >
      <header>
        <h3>{label}</h3>
        <span role="status">{stateText(errors, trans)}</span>
        <IconButton
          icon={closeIcon}
          label={trans.__('Close')}
          onClick={close}
        />
      </header>
      {errors.errors.length > 0 && (
        <ol>
          {errors.errors.slice(0, MOST_RANKS).map(error => (
            <li key={error.key}>
              <button
                type="button"
                onClick={() => log.mark(error.stream, error.offset)}
              >
                <span>{rankText(error, trans)}</span>
                <span>
                  {error.time === null ? '' : formatMilliseconds(error.time)}
                </span>
                <span>{error.text}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      {more > 0 && (
        <p>{trans._n('and %1 more rank', 'and %1 more ranks', more)}</p>
      )}
    </section>
  );
}

function rankText({ label }: IRankError, trans: TranslationBundle): string {
  if (label === '') {
    return trans.__('Launcher');
  }
  return /^\d+$/.test(label) ? trans.__('Rank %1', label) : label;
}

/** Return the number of ranks with errors, or how far the search is. */
function stateText(errors: FirstErrors, trans: TranslationBundle): string {
  if (errors.error !== null) {
    return errors.error === ''
      ? trans.__('The log is searched when the connection is back.')
      : trans.__('The log could not be searched: %1', errors.error);
  }
  if (errors.pending) {
    return trans.__('%1 % searched', Math.floor(errors.progress * 100));
  }
  const count = errors.errors.length;
  return count === 0
    ? trans.__('No error was found in the shown output.')
    : trans._n('%1 rank', '%1 ranks', count);
}
