/** Icon of a run's status. */
import * as React from 'react';
import { JobState } from '../../api/aliases';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { Icon } from '../../ui/Icon';
import { warningIcon } from '../../ui/icons';
import { RunStatus } from '../types';

const STATES: Record<Exclude<RunStatus, 'stale'>, JobState> = {
  running: 'running',
  complete: 'succeeded',
  error: 'failed',
  unknown: 'unknown'
};

interface IStatusIconProps {
  status: RunStatus;
  /** The status in words; omitted where the words are beside the icon. */
  label?: string;
  size?: 14 | 16 | 18;
}

/** Icon of a run's status. A stale run, whose process has gone, has a warning. */
export function StatusIcon(props: IStatusIconProps): React.JSX.Element {
  const { status, label, size = 16 } = props;
  if (status !== 'stale') {
    return <PhaseIcon state={STATES[status]} label={label} size={size} />;
  }
  return (
    <span
      className="jp-t9k-PhaseIcon jp-t9k-StatusIcon-stale"
      {...(label
        ? { role: 'img', 'aria-label': label, title: label }
        : { 'aria-hidden': true })}
    >
      <Icon of={warningIcon} size={size} />
    </span>
  );
}
