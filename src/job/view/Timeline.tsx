/** Timeline of a job's events. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Event } from '../../api/types';
import { errorIcon, warningIcon } from '../../ui/icons';
import { formatClock, formatExact, formatTime } from '../../common/format';
import { JobState } from '../../api/aliases';
import { Icon } from '../../ui/Icon';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { Segments } from '../../ui/Segments';

/** Properties of the timeline. */
interface ITimelineProps {
  events: readonly Event[];
  /** True to show a table of the events instead of sentences. */
  raw: boolean;
  setRaw(raw: boolean): void;
  trans: TranslationBundle;
}

/** Events of a job, the newest first, as sentences or as a table. */
export function Timeline(props: ITimelineProps): React.JSX.Element {
  const { events, raw, setRaw, trans } = props;
  return (
    <section className="jp-t9k-Section jp-t9k-Timeline">
      <h3>
        {trans.__('Timeline')}
        <Segments
          aria-label={trans.__('Timeline')}
          value={raw ? 'events' : 'words'}
          segments={[
            { value: 'words', label: trans.__('Words') },
            { value: 'events', label: trans.__('Events') }
          ]}
          onChange={value => setRaw(value === 'events')}
        />
      </h3>
      {raw ? (
        <RawEvents events={events} trans={trans} />
      ) : (
        <ol>
          {events.map((event, index) => (
            <li key={index}>
              <Moment time={event.time} trans={trans} />
              <Mark event={event} />
              <span>
                {event.replica && (
                  <span className="jp-t9k-Timeline-who">{event.replica} </span>
                )}
                {event.message}
              </span>
              {event.count > 1 && <Count event={event} trans={trans} />}
            </li>
          ))}
        </ol>
      )}
      {events.length === 0 && (
        <p className="jp-t9k-secondary">{trans.__('No events yet.')}</p>
      )}
    </section>
  );
}

/** Table of the events with their original fields. */
function RawEvents({
  events,
  trans
}: {
  events: readonly Event[];
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <table className="jp-t9k-Table jp-t9k-Timeline-raw">
      <thead>
        <tr>
          <th>{trans.__('Time')}</th>
          <th>{trans.__('Type')}</th>
          <th>{trans.__('Reason')}</th>
          <th>{trans.__('Object')}</th>
          <th>{trans.__('Message')}</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event, index) => (
          <tr key={index}>
            <td>
              <Moment time={event.time} trans={trans} />
            </td>
            <td>{event.type}</td>
            <td>{event.reason}</td>
            <td>{event.object ?? event.replica ?? ''}</td>
            <td>
              {event.message}
              {event.count > 1 && <Count event={event} trans={trans} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Number of repetitions of an event. */
function Count({
  event,
  trans
}: {
  event: Event;
  trans: TranslationBundle;
}): React.JSX.Element {
  const times = trans._n('%1 time', '%1 times', event.count);
  const since =
    event.first_time !== null && event.first_time < event.time
      ? formatTime(event.first_time, trans)
      : null;
  return (
    <span
      className="jp-t9k-Timeline-count"
      title={since === null ? times : trans.__('%1, first at %2', times, since)}
    >
      {since === null
        ? trans.__('%1×', event.count)
        : trans.__('%1× since %2', event.count, since)}
    </span>
  );
}

/** Time of day, preceded by the date if it is not today. */
export function Moment({
  time,
  trans
}: {
  time: number;
  trans: TranslationBundle;
}): React.JSX.Element {
  const day = formatTime(time, trans);
  const clock = formatClock(time, true);
  return (
    <time
      dateTime={new Date(time * 1000).toISOString()}
      title={formatExact(time)}
    >
      {day === formatClock(time) ? clock : `${day} ${clock}`}
    </time>
  );
}

/** States that events begin, by the event's reason. These events have the icon of the state. */
const STATES: Record<string, JobState> = {
  Created: 'pending',
  WaitingForDevices: 'pending',
  Started: 'running',
  Restarting: 'resuming',
  WorkerRestart: 'resuming',
  ResumedByUser: 'resuming',
  PausedByUser: 'paused',
  Succeeded: 'succeeded',
  Stopped: 'stopped',
  ExitCode: 'failed',
  BackoffLimitExceeded: 'failed',
  DeadlineExceeded: 'failed',
  StartFailed: 'failed',
  SupervisorLost: 'failed',
  MachineRestarted: 'failed'
};

/** Icon of an event: its state, a warning, or a dot. */
function Mark({ event }: { event: Event }): React.JSX.Element {
  const state = STATES[event.reason];
  if (state && state !== 'pending') {
    return <PhaseIcon state={state} size={14} />;
  }
  if (event.type === 'Warning') {
    const icon = event.reason === 'ReplicaFailed' ? errorIcon : warningIcon;
    return (
      <span className="jp-t9k-Timeline-warning">
        <Icon of={icon} size={14} />
      </span>
    );
  }
  if (state === 'pending' && event.reason !== 'Created') {
    return <PhaseIcon state={state} size={14} />;
  }
  return <span className="jp-t9k-Timeline-dot" aria-hidden />;
}
