/** Divider in a log, between two attempts. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job, LogStream, Replica } from '../../api/types';
import { stateIcons } from '../../ui/icons';
import {
  formatClock,
  formatDuration,
  formatEnd,
  sentences
} from '../../common/format';
import { LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';

/** Props of `AttemptDivider`. */
interface IAttemptDividerProps {
  /** First stream of the attempt that begins. */
  stream: LogStream;
  /** Time of the attempt's first line. */
  time: number | null;
  job: Job;
  replicas: readonly Replica[];
  trans: TranslationBundle;
  /** Show only this attempt; null if only this attempt is shown already. */
  only: ((attempt: number) => void) | null;
}

/** Shows how the earlier attempt ended and when the later attempt started. */
export function AttemptDivider(props: IAttemptDividerProps): React.JSX.Element {
  const { stream, job, trans, only } = props;
  const explanation = explain(props);
  const name =
    job.spec.torchrun === null && job.replicas > 1
      ? trans.__('%1, attempt %2', stream.replica, stream.attempt)
      : trans.__('Attempt %1', stream.attempt);
  return (
    <div className="jp-t9k-LogDivider">
      {/* A separator has no controls in it for a screen reader. */}
      <div
        className="jp-t9k-LogDivider-words"
        role="separator"
        aria-label={`${name} ${explanation}`}
      >
        <Icon of={stateIcons.resuming} size={14} />
        <strong>{name}</strong>
        <span className="jp-t9k-LogDivider-text" title={explanation}>
          {explanation}
        </span>
      </div>
      {only && (
        <LinkButton onClick={() => only(stream.attempt)}>
          {trans.__('Only attempt %1', stream.attempt)}
        </LinkButton>
      )}
    </div>
  );
}

/** Return when the attempt started and how the previous attempt ended. */
function explain(props: IAttemptDividerProps): string {
  const { stream, time, job, replicas, trans } = props;
  const replica = replicas.find(item => item.name === stream.replica);
  const attempts = replica?.attempts ?? [];
  const now = attempts.find(item => item.number === stream.attempt);
  const before = attempts.find(item => item.number === stream.attempt - 1);
  const started = now?.started_at ?? time;
  const said: string[] = [];
  if (started !== null) {
    const at = formatClock(started, true);
    said.push(
      now?.restart
        ? trans.__(
            'started at %1, restart %2 of %3.',
            at,
            now.restart,
            job.spec.run_policy.backoff_limit
          )
        : trans.__('started at %1.', at)
    );
  }
  const ended = before && formatEnd(before, trans);
  if (before && ended) {
    const ran =
      before.started_at !== null && before.ended_at !== null
        ? formatDuration(before.ended_at - before.started_at, trans)
        : null;
    said.push(
      ran === null
        ? trans.__('Attempt %1 ended: %2.', before.number, ended)
        : trans.__('Attempt %1 ended after %2: %3.', before.number, ran, ended)
    );
  }
  return sentences(said);
}
