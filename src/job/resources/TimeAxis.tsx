/** Attempts and lines of the log on the axis of time of the charts. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LogMarker } from '../../api/types';
import { formatClock } from '../../common/format';
import { Icon } from '../../ui/Icon';
import { errorIcon, warningIcon } from '../../ui/icons';
import { IStretch } from './layout';

interface ITimeAxisProps {
  extent: readonly [number, number];
  stretches: readonly IStretch[];
  markers: readonly LogMarker[];
  /** Show a line of the log. */
  showLine(marker: LogMarker): void;
  trans: TranslationBundle;
}

/** Attempts as bars, and below them markers that open the log at their line. */
export function TimeAxis(props: ITimeAxisProps): React.JSX.Element {
  const { extent, stretches, markers, trans } = props;
  const [first, last] = extent;
  const place = (time: number): number =>
    (100 * (Math.min(last, Math.max(first, time)) - first)) / (last - first);
  const shown = stretches.filter(
    stretch => stretch.first <= last && (stretch.last ?? last) >= first
  );
  return (
    <div className="jp-t9k-TimeAxis">
      <ul
        className="jp-t9k-TimeAxis-attempts"
        aria-label={trans.__('Attempts')}
      >
        {shown.map(stretch => {
          const text = attemptText(stretch, trans);
          const left = place(stretch.first);
          return (
            <li
              key={stretch.number}
              title={text}
              data-running={stretch.last === null || undefined}
              style={{
                left: `${left}%`,
                width: `${place(stretch.last ?? last) - left}%`
              }}
            >
              {text}
            </li>
          );
        })}
      </ul>
      <ul className="jp-t9k-TimeAxis-markers" aria-label={trans.__('Log')}>
        {markers.map(marker => (
          <li
            key={`${marker.stream} ${marker.offset}`}
            style={{ left: `${place(marker.time)}%` }}
          >
            <button
              type="button"
              data-kind={marker.kind}
              title={`${formatClock(marker.time, true)} ${marker.text}`}
              aria-label={trans.__(
                'Log at %1: %2',
                formatClock(marker.time, true),
                marker.text
              )}
              onClick={() => props.showLine(marker)}
            >
              <MarkerSign kind={marker.kind} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Sign of a marker; each kind has a shape of its own. */
export function MarkerSign({
  kind
}: {
  kind: LogMarker['kind'];
}): React.JSX.Element {
  return kind === 'checkpoint' ? (
    <span className="jp-t9k-TimeAxis-dot" />
  ) : (
    <span className="jp-t9k-TimeAxis-sign" data-kind={kind}>
      <Icon of={kind === 'error' ? errorIcon : warningIcon} size={12} />
    </span>
  );
}

function attemptText(
  { number, first, last, ended }: IStretch,
  trans: TranslationBundle
): string {
  if (last === null) {
    return trans.__(
      'Attempt %1, running since %2',
      number,
      formatClock(first, true)
    );
  }
  return ended === null
    ? trans.__('Attempt %1', number)
    : trans.__('Attempt %1: %2', number, ended);
}
