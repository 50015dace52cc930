/** Content of a job's row. */

import {
  ellipsesIcon,
  LabIcon,
  refreshIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSummary } from '../../api/types';
import { tensorBoardIcon } from '../../ui/icons';
import { logIcon } from '../../ui/pageIcons';
import { serverNow } from '../../common/clock';
import {
  canAsk,
  hasBar,
  iconStateOf,
  isActive,
  stateOf
} from '../../jobs/phase';
import { ranSeconds } from '../../jobs/runtime';
import { heldText, jobSentence, jobTitle } from '../../jobs/sentence';
import { CommandIDs } from '../../tokens';
import { RunCommand } from '../../common/commands';
import { useTicking } from '../../common/hooks';
import { Icon } from '../../ui/Icon';
import { JobName } from '../../jobs/JobName';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { ProgressBar } from '../../ui/ProgressBar';
import { Age, AsOf, Time } from '../../ui/Time';

/** Properties of a job's row. */
export interface IJobRowProps {
  job: JobSummary;
  /** Location and owner of the job, without the parts in which no jobs differ. */
  location: string;
  /** True if the job's tab is the current one. */
  current: boolean;
  /** True if the sentence takes two lines. */
  wrapped: boolean;
  run: RunCommand;
  /** Open the menu of all actions at a point of the page, in px. */
  openMenu: (id: string, x: number, y: number) => void;
  trans: TranslationBundle;
}

/** A job's state, name, location, time, sentence, devices and progress, and buttons for the most frequent actions. */
export const JobRow = React.memo(
  ({
    job,
    location,
    current,
    wrapped,
    run,
    openMenu,
    trans
  }: IJobRowProps): React.JSX.Element => {
    const state = stateOf(job);
    const asOf = React.useContext(AsOf);
    const say = (short: boolean): string =>
      jobSentence(job, trans, short, asOf ?? serverNow());
    const sentence = useTicking(() => say(false));
    const short = useTicking(() => say(true));
    return (
      <div
        className="jp-t9k-JobRow"
        data-state={state}
        data-current={current || undefined}
        data-deleted={job.deleted || undefined}
        data-wrapped={wrapped || undefined}
      >
        <PhaseIcon state={iconStateOf(job)} />
        <div className="jp-t9k-JobRow-body">
          <div className="jp-t9k-JobRow-line">
            <span className="jp-t9k-JobRow-name" title={rowTitle(job, trans)}>
              <JobName job={job} />
            </span>
            {location && (
              <span className="jp-t9k-JobRow-location" title={location}>
                {location}
              </span>
            )}
            <JobTime job={job} trans={trans} />
            <RowActions job={job} run={run} openMenu={openMenu} trans={trans} />
          </div>
          <div className="jp-t9k-JobRow-line">
            <span className="jp-t9k-JobRow-sentence" title={sentence}>
              {short}
            </span>
            {job.devices && job.devices.count > 0 && (
              <span
                className="jp-t9k-JobRow-devices"
                title={heldText(job, trans) ?? undefined}
              >
                {trans._n('%1 GPU', '%1 GPUs', job.devices.count)}
              </span>
            )}
          </div>
          {hasBar(job) && (
            <ProgressBar
              fraction={job.progress?.fraction ?? 0}
              label={trans.__('Progress')}
              state={stateOf(job)}
              text={sentence.replace(/ · /g, ', ')}
            />
          )}
        </div>
      </div>
    );
  }
);

JobRow.displayName = 'JobRow';

/** Return the job's names and its queue, for the tooltip. */
function rowTitle(job: JobSummary, trans: TranslationBundle): string {
  const title = jobTitle(job);
  return job.queue ? `${title}\n${trans.__('Queue %1', job.queue)}` : title;
}

/** The running or waiting time of a job; for a finished or paused job, the time of its end or of its creation. */
function JobTime({
  job,
  trans
}: {
  job: JobSummary;
  trans: TranslationBundle;
}): React.JSX.Element {
  const className = 'jp-t9k-JobRow-time';
  if (!isActive(job) || job.phase === 'Paused') {
    const time = job.ended_at ?? job.created_at;
    return <Time time={time} trans={trans} className={className} />;
  }
  const { created_at, started_at } = job;
  return (
    <Age
      time={started_at ?? created_at}
      seconds={started_at === null ? undefined : now => ranSeconds(job, now)}
      trans={trans}
      className={className}
    />
  );
}

/** Buttons that appear on hover and focus. The context menu contains the same actions. */
function RowActions({
  job,
  run,
  openMenu,
  trans
}: Omit<IJobRowProps, 'location' | 'current' | 'wrapped'>): React.JSX.Element {
  const { id, actions } = job;
  const action = (
    icon: LabIcon,
    label: string,
    onClick: (event: React.MouseEvent<HTMLElement>) => void
  ): React.JSX.Element => (
    <button
      type="button"
      tabIndex={-1}
      className="jp-t9k-IconButton"
      aria-label={label}
      title={label}
      onClick={event => {
        event.stopPropagation();
        onClick(event);
      }}
    >
      <Icon of={icon} size={16} />
    </button>
  );
  return (
    <span className="jp-t9k-JobRow-actions">
      {action(logIcon, trans.__('Show the log'), () =>
        run(CommandIDs.openJob, { id, tab: 'logs' })
      )}
      {job.log_dirs.length > 0 &&
        action(tensorBoardIcon, trans.__('Open in TensorBoard'), () =>
          run(CommandIDs.openTensorBoard, { jobId: id })
        )}
      {actions.includes('stop')
        ? canAsk(job, 'stop') &&
          action(stopIcon, trans.__('Stop…'), () =>
            run(CommandIDs.stop, { id })
          )
        : actions.includes('rerun') &&
          action(refreshIcon, trans.__('Run again'), () =>
            run(CommandIDs.rerun, { id })
          )}
      {action(ellipsesIcon, trans.__('More actions'), event => {
        const { left, bottom } = event.currentTarget.getBoundingClientRect();
        openMenu(id, left, bottom);
      })}
    </span>
  );
}
