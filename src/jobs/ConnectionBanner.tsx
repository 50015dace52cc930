/** Banners for a lost connection and for a missing server part. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatClock, formatDuration } from '../common/format';
import { Connection } from '../tokens';
import { Banner } from '../ui/Banner';
import { LinkButton } from '../ui/Buttons';
import { CopyButton } from '../ui/CopyButton';
import { useAfter, useTicking } from '../common/hooks';

/** Command that enables the server part. */
export const ENABLE_COMMAND =
  'jupyter server extension enable jupyterlab_t9kjob';

/** A connection that is restored within this time, in ms, gets no banner. */
const BLIP = 1500;

interface ITrans {
  trans: TranslationBundle;
}

/** The banner for the state of the connection; null if the connection is open. */
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

/**
 * The banner for requests that the server refuses, for example after a restart behind JupyterHub.
 * Only a new login helps.
 */
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
        'Your login may have expired, or the server was restarted. Reload the page to log in again. Unsaved changes in open files will be lost.'
      )}
    </Banner>
  );
}

/** Countdown to the next attempt to connect. */
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
  // Screen readers would announce every second of the countdown, so the element is not a live region.
  return <span aria-live="off">{text}</span>;
}

/** The banner for a missing server part, with the command that enables it. */
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
