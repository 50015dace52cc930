/** Notices above the fields of the launch form. */
import * as React from 'react';
import { baseName } from '../../common/contentsPath';
import { formatTime, sentences } from '../../common/format';
import { joinWords } from '../../common/shellWords';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import {
  StaleReason,
  stateUnknown,
  whyStale
} from '../../cluster/view/ClusterBanner';
import { useLaunch, useModel } from '../parts/context';
import { describeField } from '../parts/fieldNames';

/** Number of different fields that the notice names. */
const MOST_FIELDS = 6;

/** All notices of the form. */
export function Notices(): React.JSX.Element {
  return (
    <div className="jp-t9k-Launch-notices">
      <ClusterNotice />
      <LaunchedBy />
      <LastTime />
      <Applied />
      <Differences />
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
    facts.runs_on_lab_machine || isLocked
      ? undefined
      : engines.find(info => info.available && info.facts.runs_on_lab_machine)
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
            : `${whyStale(cluster, trans)} ${stateUnknown(since, trans)}`
        }
      >
        <StaleReason cluster={cluster} />
      </Banner>
    );
  }
  return null;
}

/** Notice that the form is filled from a command of a notebook, with a way to the notebook. */
function LaunchedBy(): React.JSX.Element | null {
  const { model, trans, actions } = useLaunch();
  const launchedBy = useModel(({ state }) => state.launchedBy);
  if (!launchedBy) {
    return null;
  }
  const { path, cell, command } = launchedBy;
  return (
    <Banner
      level="info"
      title={trans.__('From cell %1 of %2:', cell, baseName(path))}
      actions={
        <>
          <LinkButton onClick={() => actions.openFile(path, 1, cell)}>
            {trans.__('Open the cell')}
          </LinkButton>
          <LinkButton onClick={() => void model.runNotebook()}>
            {trans.__('Run the notebook’s cells instead')}
          </LinkButton>
        </>
      }
    >
      <code className="jp-t9k-Launch-lastTime">{command}</code>
    </Banner>
  );
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

/** Notice of a preset that was applied, with what did not fit, and a way back. */
function Applied(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const applied = useModel(({ state }) => state.applied);
  if (!applied || applied.isRead) {
    return null;
  }
  const { name, notes, before } = applied;
  return (
    <Banner
      level={notes.length ? 'warning' : 'info'}
      title={
        notes.length
          ? trans.__('“%1” was applied, except:', name)
          : trans.__('“%1” was applied.', name)
      }
      actions={
        <>
          {before && (
            <LinkButton onClick={() => model.undoPreset()}>
              {trans.__('Undo')}
            </LinkButton>
          )}
          <LinkButton onClick={() => model.keepPreset()}>
            {trans.__('Dismiss')}
          </LinkButton>
        </>
      }
    >
      {notes.length > 0 && (
        <ul className="jp-t9k-Launch-notes">
          {notes.map(({ field, message, hint }) => (
            <li key={`${field} ${message}`}>{sentences([message, hint])}</li>
          ))}
        </ul>
      )}
    </Banner>
  );
}

/** Notice of the fields that differ from those of the cloned job. */
function Differences(): React.JSX.Element | null {
  const { model, trans, reveal } = useLaunch();
  const fields = useModel(({ differences }) => differences);
  const name = useModel(({ state }) => state.clone?.name ?? '');
  if (!fields.length) {
    return null;
  }
  const shown = fields.slice(0, MOST_FIELDS);
  const left = fields.length - shown.length;
  return (
    <Banner
      level="info"
      title={trans._n(
        '%1 field differs from %2:',
        '%1 fields differ from %2:',
        fields.length,
        name
      )}
      actions={
        <LinkButton onClick={() => void model.startFrom('job')}>
          {trans.__('Reset all')}
        </LinkButton>
      }
    >
      <span className="jp-t9k-Launch-differences">
        {shown.map(field => (
          <LinkButton key={field} onClick={() => reveal(field)}>
            {describeField(field, trans)?.name ?? field}
          </LinkButton>
        ))}
        {left > 0 && trans._n('and %1 other', 'and %1 others', left)}
      </span>
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
      title={trans.__('Changed for this engine:')}
      actions={
        <LinkButton onClick={() => model.dropNotes()}>
          {trans.__('Dismiss')}
        </LinkButton>
      }
    >
      <ul className="jp-t9k-Launch-notes">
        {notes.map(({ code, field, message, hint }) => (
          <li key={`${code} ${field} ${message}`}>
            {sentences([message, hint])}
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
      title={trans.__('The form is locked.')}
      actions={
        <LinkButton
          aria-disabled={isFrozen || undefined}
          onClick={() => model.isFrozen || actions.backToForm()}
        >
          {trans.__('Back to form')}
        </LinkButton>
      }
    >
      {trans.__('The edited manifest is submitted instead of the form.')}
    </Banner>
  ) : null;
}
