/** Table of the replicas' attempts. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Attempt, Replica } from '../../api/types';
import { formatClock, formatEnd } from '../../common/format';
import { LinkButton } from '../../ui/Buttons';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { Duration } from '../../ui/Time';

/** Row of the table: replicas whose attempts ended alike. */
interface IRow {
  replicas: string[];
  attempt: Attempt;
}

/** Props of `Attempts`. */
interface IAttemptsProps {
  replicas: readonly Replica[];
  trans: TranslationBundle;
  /** Show the log of an attempt. */
  showLog(attempt: number): void;
}

/** Shows the attempts of the replicas, the newest first, and how each ended. */
export function Attempts(props: IAttemptsProps): React.JSX.Element | null {
  const { replicas, trans } = props;
  const rows = attemptRows(replicas);
  if (rows.length === 0) {
    return null;
  }
  return (
    <section className="jp-t9k-Section">
      <h3>{trans.__('Attempts')}</h3>
      <table className="jp-t9k-Table jp-t9k-Attempts">
        <thead>
          <tr>
            <th>{trans.__('Replica')}</th>
            <th>{trans.__('Time')}</th>
            <th>{trans.__('How it ended')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ replicas: names, attempt }) => (
            <tr key={`${names[0]}.${attempt.number}`}>
              <td>
                {names.length === 1
                  ? trans.__('%1, attempt %2', names[0], attempt.number)
                  : trans._n(
                      '%1 replica, attempt %2',
                      '%1 replicas, attempt %2',
                      names.length,
                      attempt.number
                    )}{' '}
                <LinkButton
                  aria-label={trans.__('Log of attempt %1', attempt.number)}
                  onClick={() => props.showLog(attempt.number)}
                >
                  {trans.__('log')}
                </LinkButton>
              </td>
              <td>
                {spanText(attempt, trans)}
                {attempt.started_at !== null && (
                  <>
                    {' · '}
                    <Duration
                      start={attempt.started_at}
                      end={attempt.ended_at}
                      trans={trans}
                    />
                  </>
                )}
              </td>
              <td>
                <AttemptEnd attempt={attempt} trans={trans} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Shows how an attempt ended, or that it runs. */
export function AttemptEnd({
  attempt,
  trans
}: {
  attempt: Attempt;
  trans: TranslationBundle;
}): React.JSX.Element {
  const restarts =
    attempt.worker_restarts > 0
      ? trans._n(
          '%1 worker restart',
          '%1 worker restarts',
          attempt.worker_restarts
        )
      : null;
  const running = attempt.started_at !== null && attempt.ended_at === null;
  return (
    <span className="jp-t9k-Attempts-end">
      {running && <PhaseIcon state="running" size={14} />}
      {running ? trans.__('running') : formatEnd(attempt, trans)}
      {restarts && ` · ${restarts}`}
    </span>
  );
}

/** Return the start and end times of an attempt; empty if it hasn't started. */
export function spanText(attempt: Attempt, trans: TranslationBundle): string {
  if (attempt.started_at === null) {
    return '';
  }
  const end =
    attempt.ended_at === null ? trans.__('now') : formatClock(attempt.ended_at);
  return `${formatClock(attempt.started_at)} – ${end}`;
}

/**
 * Return the rows of the table, the newest attempts first. Attempts with the same number and the same end
 * share a row.
 */
export function attemptRows(replicas: readonly Replica[]): IRow[] {
  const rows = new Map<string, IRow>();
  for (const replica of replicas) {
    for (const attempt of replica.attempts) {
      const key = [
        attempt.number,
        attempt.ended_at === null,
        attempt.ended ?? attempt.exit_code,
        attempt.worker_restarts
      ].join();
      const row = rows.get(key);
      if (row) {
        row.replicas.push(replica.name);
      } else {
        rows.set(key, { replicas: [replica.name], attempt });
      }
    }
  }
  return [...rows.values()].sort((a, b) => b.attempt.number - a.attempt.number);
}
