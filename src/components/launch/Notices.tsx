import * as React from 'react';
import { formatTime } from '../../model/format';
import { Banner } from '../Banner';
import { LinkButton } from '../Buttons';
import { useLaunch } from './context';

/** What there is to know before one fills in anything. */
export function Notices(): React.JSX.Element {
  return (
    <>
      <ClusterNotice />
      <Notes />
      <LockedNotice />
    </>
  );
}

/** The engine has gone, its cluster does not answer, or the account may not make jobs there. */
function ClusterNotice(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const { engine } = model;
  const local = model.engines.find(
    ({ name, available }) => name === 'local' && available
  );
  const runHere = local && engine?.name !== 'local' && !model.isLocked && (
    <LinkButton onClick={() => void model.moveTo('local')}>
      {trans.__('Run on this machine')}
    </LinkButton>
  );
  if (engine && !engine.available) {
    return (
      <Banner
        level="error"
        title={trans.__('%1 can’t be used now.', engine.label)}
        actions={runHere}
      >
        {engine.reason}
      </Banner>
    );
  }
  const { cluster } = engine ?? {};
  const right = cluster?.rights.create_jobs;
  if (cluster && right?.supported === false) {
    return (
      <Banner
        level="error"
        title={trans.__('You may not create jobs here.')}
        actions={runHere}
      >
        {right.reason}
      </Banner>
    );
  }
  if (cluster && cluster.stale_since !== null) {
    const since = formatTime(cluster.stale_since, trans);
    return (
      <Banner
        level="warning"
        title={trans.__('The cluster has not answered since %1.', since)}
      >
        {cluster.stale_reason}
      </Banner>
    );
  }
  return null;
}

/** What was lost, mended or assumed on the way into this form. */
function Notes(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const notes = model.state.notes.filter(
    ({ level }) => level === 'error' || level === 'warning'
  );
  if (!notes.length) {
    return null;
  }
  return (
    <Banner
      level="warning"
      title={trans.__('Changed on the way here:')}
      actions={
        <LinkButton onClick={() => model.dropNotes()}>
          {trans.__('Dismiss')}
        </LinkButton>
      }
    >
      <ul className="jp-t9k-Launch-notes">
        {notes.map(({ code, field, message, hint }) => (
          <li key={`${code} ${field} ${message}`}>
            {message} {hint}
          </li>
        ))}
      </ul>
    </Banner>
  );
}

function LockedNotice(): React.JSX.Element | null {
  const { model, trans, actions } = useLaunch();
  return model.state.manifest ? (
    <Banner
      level="info"
      title={trans.__('The form is locked:')}
      actions={
        <LinkButton onClick={() => actions.backToForm()}>
          {trans.__('Back to form')}
        </LinkButton>
      }
    >
      {trans.__('the manifest is edited by hand, and submitted as it stands.')}
    </Banner>
  ) : null;
}
