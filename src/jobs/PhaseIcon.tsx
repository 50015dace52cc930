/** Component for a job's state as an icon. */

import * as React from 'react';
import { stateIcons } from '../ui/icons';
import { JobState } from '../api/aliases';
import { Icon } from '../ui/Icon';

interface IPhaseIconProps {
  state: JobState;
  /** The state in words; omitted where the word is shown beside the icon. */
  label?: string;
  /** Size in px: 16 in lists, 18 in a job's header, 14 in tables. */
  size?: 14 | 16 | 18;
}

/** Icon of a job's state; the style sheet selects its colour. */
export function PhaseIcon({
  state,
  label,
  size = 16
}: IPhaseIconProps): React.JSX.Element {
  return (
    <span
      className="jp-t9k-PhaseIcon"
      data-state={state}
      {...(label
        ? { role: 'img', 'aria-label': label, title: label }
        : { 'aria-hidden': true })}
    >
      <Icon of={stateIcons[state]} size={size} />
    </span>
  );
}
