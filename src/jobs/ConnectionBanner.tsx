import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatClock, formatDuration } from '../common/format';
import { Connection } from '../tokens';
import { Banner } from '../ui/Banner';
import { LinkButton } from '../ui/Buttons';
import { CopyButton } from '../ui/CopyButton';
import { useAfter, useTicking } from '../common/hooks';

/** How to get the server part going. */
export const ENABLE_COMMAND =
  'jupyter server extension enable jupyterlab_t9kjob';

/** A connection that comes back within this time (ms) is not worth a banner. */
const BLIP = 1500;

interface ITrans {
  trans: TranslationBundle;
}

/** What is wrong with the connection, if anything is. */
export function ConnectionBanner({
  connection,
  reconnect,
  trans
}: ITrans & {
  connection: Connection;
  reconnect: () => void;
}): React.JSX.Element | null {
  const lost = useAfter(connection.state === 'lost', BLIP);
  if (connection.state === 'missing') {
    return <MissingBanner trans={trans} />;
  }
  if (connection.state !== 'lost' || !lost) {
    return null;
  }
  if (connection.refused) {
    return <RefusedBanner since={connection.since} trans={trans} />;
  }
  return (
    <Banner
      level="warning"
      title={trans.__(
        'Stale since %1, reconnecting.',
        formatClock(connection.since)
      )}
      actions={
        <LinkButton onClick={reconnect}>{trans.__('Try now')}</LinkButton>
      }
    >
      <NextTry time={connection.nextTry} trans={trans} />
    </Banner>
  );
}

/** The server refuses this page, as after its restart behind JupyterHub: only a new login helps. */
function RefusedBanner({
  since,
  trans
}: ITrans & { since: number }): React.JSX.Element {
  return (
    <Banner
      level="warning"
      title={trans.__(
        'Stale since %1: the server refuses this page.',
        formatClock(since)
      )}
      actions={
        <LinkButton onClick={() => window.location.reload()}>
          {trans.__('Reload the page')}
        </LinkButton>
      }
    >
      {trans.__(
        'Your login may have expired, or the server was restarted. Reload the page to log in again. Unsaved changes in open files get lost by that.'
      )}
    </Banner>
  );
}

function NextTry({
  time,
  trans
}: ITrans & { time: number | null }): React.JSX.Element {
  const text = useTicking(() => {
    const left = time === null ? 0 : Math.ceil(time - Date.now() / 1000);
    return left > 0
      ? trans.__('Next try in %1.', formatDuration(left, trans))
      : trans.__('Trying now.');
  });
  // Counted down aloud, it would drown everything else.
  return <span aria-live="off">{text}</span>;
}

/** The server part is not enabled: the command that enables it. */
export function MissingBanner({ trans }: ITrans): React.JSX.Element {
  return (
    <Banner
      level="error"
      title={trans.__('The server part of Distributed Jobs is not running.')}
      actions={
        <CopyButton
          kind="link"
          text={ENABLE_COMMAND}
          label={trans.__('Copy the command')}
          trans={trans}
        />
      }
    >
      {trans.__('Run this in a terminal, then restart Jupyter:')}{' '}
      <code>{ENABLE_COMMAND}</code>
    </Banner>
  );
}
