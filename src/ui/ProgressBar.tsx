/** Progress bar of a job. */

import * as React from 'react';

interface IProgressBarProps {
  /** Completed part, from 0 to 1. */
  fraction: number;
  /** Accessible name. */
  label: string;
  /** Value that screen readers announce: “epoch 4 of 10”. */
  text: string;
  /** State of the job, which selects the bar's colour. */
  state: string;
  /** Height in px: 3 in the sidebar, 4 in a job's header. */
  height?: 3 | 4;
}

/** Progress of a job. */
export function ProgressBar({
  fraction,
  label,
  text,
  state,
  height = 3
}: IProgressBarProps): React.JSX.Element {
  const percent = Math.round(Math.min(1, Math.max(0, fraction)) * 1000) / 10;
  return (
    <div
      className="jp-t9k-ProgressBar"
      data-state={state}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
      aria-valuetext={text}
      style={{ height }}
    >
      <div style={{ width: `${percent}%` }} />
    </div>
  );
}
