/** Row of a job in the list. */

import * as React from 'react';
import { serverNow } from '../../common/clock';
import { jobLabel } from '../../jobs/sentence';
import { CommandIDs } from '../../tokens';
import { useTicking } from '../../common/hooks';
import { AsOf } from '../../ui/Time';
import { IJobRowProps, JobRow } from './JobRow';
import { listed } from '../../common/format';

interface IJobListRowProps extends IJobRowProps {
  /** Upper edge in the list, in px. */
  top: number;
  /** Height in px. */
  height: number;
  /** Level of the row in the tree. */
  level: 2 | 3;
  /** Position of the job in its section or sweep, from 1. */
  position: number;
  /** Number of rows of the level in the section or sweep. */
  count: number;
  /** Time at which the job's state was last known to be current, in seconds; null while it is current. */
  asOf: number | null;
  /** True if the row is the list's tab stop. */
  focusable: boolean;
  onFocus: (id: string) => void;
  /** Called with a point of the page when the user requests the context menu. */
  onMenu: (id: string, x: number, y: number) => void;
}

/** A job at its position in the list. It is memoized, because other jobs change all the time. */
export const JobListRow = React.memo(
  ({
    top,
    height,
    level,
    position,
    count,
    asOf,
    focusable,
    onFocus,
    onMenu,
    ...row
  }: IJobListRowProps): React.JSX.Element => {
    const { job, location, run, trans } = row;
    const label = useTicking(() => jobLabel(job, trans, asOf ?? serverNow()));
    return (
      <div
        data-key={job.id}
        className="jp-t9k-JobList-row"
        role="treeitem"
        tabIndex={focusable ? 0 : -1}
        aria-level={level}
        aria-setsize={count}
        aria-posinset={position}
        aria-label={listed([label, ...location.split(' · ')])}
        style={{ top, height }}
        onFocus={() => onFocus(job.id)}
        onClick={() => run(CommandIDs.openJob, { id: job.id })}
        onContextMenu={event => {
          event.preventDefault();
          event.stopPropagation();
          onMenu(job.id, event.clientX, event.clientY);
        }}
      >
        <AsOf.Provider value={asOf}>
          <JobRow {...row} />
        </AsOf.Provider>
      </div>
    );
  }
);

JobListRow.displayName = 'JobListRow';
