/** Notices above the fields of the launch form. */
import * as React from 'react';
import { formatTime } from '../../common/format';
import { joinWords } from '../../common/shellWords';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { StaleReason, whyStale } from '../../cluster/view/ClusterBanner';
import { useLaunch, useModel } from '../parts/context';

/** All notices of the form. */
export function Notices(): React.JSX.Element {
  return (
    <div className="jp-t9k-Launch-notices">
      <ClusterNotice />
      <LastTime />
      <Notes />
      <LockedNotice />
    </div>
  );
}

/** Notice that the engine is unavailable, its cluster does not answer, or a permission is missing. */
function ClusterNotice(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const engine = useModel(now => now.engine);
  const here = useModel(({ engines, facts, isLocked }) =>
    facts.shares_lab_filesystem || isLocked
      ? undefined
      : engines.find(info => info.available && info.facts.shares_lab_filesystem)
          ?.name
  );
  const runHere = here !== undefined && (
    <LinkButton onClick={() => void model.moveTo(here)}>
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
  const cluster = engine?.cluster;
  const right = cluster?.rights.create_jobs;
  if (engine && right?.supported === false) {
    return (
      <Banner
        level="error"
        title={trans.__(
          'You don’t have permission to create jobs in namespace “%1”.',
          engine.default_namespace
        )}
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
        title={
          (cluster.stale_code ?? 'Unreachable') === 'Unreachable'
            ? trans.__('The cluster has not answered since %1.', since)
            : trans.__('%1 since %2.', whyStale(cluster, trans), since)
        }
      >
        <StaleReason cluster={cluster} />
      </Banner>
    );
  }
  return null;
}

/** Notice that the form has the values of the file's last submission, including arguments. */
function LastTime(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const [isRead, setRead] = React.useState(false);
  const lastTime = useModel(({ state: { start, manifest, lastTime: last } }) =>
    start === 'last' && !manifest ? last : null
  );
  if (isRead || !lastTime?.spec.args.length) {
    return null;
  }
  const time = formatTime(lastTime.time, trans);
  return (
    <Banner
      level="info"
      title={trans.__('Filled in as last time (%1), with its arguments:', time)}
      actions={
        <>
          <LinkButton onClick={() => void model.startFrom('defaults')}>
            {trans.__('Use the defaults')}
          </LinkButton>
          <LinkButton onClick={() => setRead(true)}>
            {trans.__('Dismiss')}
          </LinkButton>
        </>
      }
    >
      <code className="jp-t9k-Launch-lastTime">
        {joinWords(lastTime.spec.args)}
      </code>
    </Banner>
  );
}

/** Notice of values that were lost, corrected or assumed when the form was filled. */
function Notes(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const notes = useModel(({ state }) =>
    state.notes.filter(({ level }) => level === 'error' || level === 'warning')
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

/** Notice that the manifest is edited instead of the form. */
function LockedNotice(): React.JSX.Element | null {
  const { model, trans, actions } = useLaunch();
  const isEdited = useModel(({ state }) => state.manifest !== null);
  const isFrozen = useModel(now => now.isFrozen);
  return isEdited ? (
    <Banner
      level="info"
      title={trans.__('The form is locked:')}
      actions={
        <LinkButton
          aria-disabled={isFrozen || undefined}
          onClick={() => model.isFrozen || actions.backToForm()}
        >
          {trans.__('Back to form')}
        </LinkButton>
      }
    >
      {trans.__('the manifest is edited by hand, and submitted as it stands.')}
    </Banner>
  ) : null;
}
