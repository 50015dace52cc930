/** Times, ages and durations that update themselves. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { serverNow } from '../common/clock';
import {
  formatAge,
  formatAgo,
  formatDuration,
  formatExact,
  formatTime
} from '../common/format';
import { useTicking } from '../common/hooks';

/**
 * Time at which the shown data was last known to be current, in seconds since the epoch; null while it is current.
 *
 * Ages and durations do not count beyond this time, because the current state is unknown.
 */
export const AsOf = React.createContext<number | null>(null);

interface ITimeProps {
  /** Seconds since the epoch, by the server's clock. */
  time: number;
  trans: TranslationBundle;
  className?: string;
}

/** The time of an event: “09:58”, “yesterday”; the tooltip shows the exact time. */
export function Time({
  time,
  trans,
  className
}: ITimeProps): React.JSX.Element {
  const text = useTicking(() => formatTime(time, trans));
  return <TimeText time={time} text={text} className={className} />;
}

interface IAgeProps extends ITimeProps {
  /** Returns the age in seconds where it differs from the time since `time`. */
  seconds?: (now: number) => number;
}

/** An age: “6 min”. It is updated every second while the data is current. */
export function Age({
  time,
  seconds = now => now - time,
  trans,
  className
}: IAgeProps): React.JSX.Element {
  const asOf = React.useContext(AsOf);
  const text = useTicking(() => formatAge(seconds(asOf ?? serverNow()), trans));
  return <TimeText time={time} text={text} className={className} />;
}

/** The time since an event: “20 s ago”. It is updated every second. */
export function Ago({ time, trans, className }: ITimeProps): React.JSX.Element {
  const text = useTicking(() => formatAgo(serverNow() - time, trans));
  return <TimeText time={time} text={text} className={className} />;
}

interface IDurationProps {
  /** Seconds since the epoch, by the server's clock; the same for `end`. */
  start: number;
  /** Null while the event lasts. */
  end: number | null;
  trans: TranslationBundle;
}

/** A duration: “4 min 12 s”. Until the event ends, it is updated every second while the data is current. */
export function Duration({
  start,
  end,
  trans
}: IDurationProps): React.JSX.Element {
  const asOf = React.useContext(AsOf);
  const text = useTicking(() =>
    formatDuration(Math.max(0, (end ?? asOf ?? serverNow()) - start), trans)
  );
  return <TimeText time={start} text={text} />;
}

/** A `time` element whose tooltip is the exact time. */
function TimeText(props: {
  time: number;
  text: string;
  className?: string;
}): React.JSX.Element {
  return (
    <time
      className={props.className}
      dateTime={new Date(props.time * 1000).toISOString()}
      title={formatExact(props.time)}
    >
      {props.text}
    </time>
  );
}
