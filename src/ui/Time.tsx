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
 * When the shown data was last known to be current, in seconds; null while it
 * is. What goes on is not counted further: nobody knows whether it still does.
 */
export const AsOf = React.createContext<number | null>(null);

interface ITimeProps {
  /** Seconds since the epoch, by the server's clock. */
  time: number;
  trans: TranslationBundle;
  className?: string;
}

/** When something was: “09:58”, “yesterday”; the exact time in the title. */
export function Time({
  time,
  trans,
  className
}: ITimeProps): React.JSX.Element {
  const text = useTicking(() => formatTime(time, trans));
  return <TimeText time={time} text={text} className={className} />;
}

interface IAgeProps extends ITimeProps {
  /** How long it has gone on, where that is not all the time since. */
  seconds?: (now: number) => number;
}

/** How old something is, ticking while the data is current: “6 min”. */
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

/** How long ago something was, ticking: “20 s ago”. */
export function Ago({ time, trans, className }: ITimeProps): React.JSX.Element {
  const text = useTicking(() => formatAgo(serverNow() - time, trans));
  return <TimeText time={time} text={text} className={className} />;
}

interface IDurationProps {
  start: number;
  /** Null while it goes on. */
  end: number | null;
  trans: TranslationBundle;
}

/** How long something took, or has taken so far, ticking while the data is current: “4 min 12 s”. */
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
