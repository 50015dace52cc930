import * as React from 'react';
import { serverNow } from '../../common/clock';
import { jobLabel } from '../../jobs/sentence';
import { CommandIDs } from '../../tokens';
import { useTicking } from '../../common/hooks';
import { AsOf } from '../../ui/Time';
import { IJobRowProps, JobRow } from './JobRow';

interface IJobListRowProps extends IJobRowProps {
  /** Upper edge in the list, and height, in px. */
  top: number;
  height: number;
  /** Which one of its section it is, from 1, and of how many. */
  position: number;
  count: number | undefined;
  /** When its state was last known to be current, in seconds; null while it is. */
  asOf: number | null;
  /** It is the list's tab stop. */
  focusable: boolean;
  onFocus: (id: string) => void;
  /** Its context menu is asked for at a point of the page. */
  onMenu: (id: string, x: number, y: number) => void;
}

/** A job at its place in the list; rendered anew only when something of it changes, for others change all the time. */
export const JobListRow = React.memo(
  ({
    top,
    height,
    position,
    count,
    asOf,
    focusable,
    onFocus,
    onMenu,
    ...row
  }: IJobListRowProps): React.JSX.Element => {
    const { job, place, run, trans } = row;
    const label = useTicking(() => jobLabel(job, trans, asOf ?? serverNow()));
    return (
      <div
        data-key={job.id}
        className="jp-t9k-JobList-row"
        role="treeitem"
        tabIndex={focusable ? 0 : -1}
        aria-level={2}
        aria-setsize={count}
        aria-posinset={position}
        aria-label={[label, place]
          .filter(Boolean)
          .join(', ')
          .replace(/ · /g, ', ')}
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
