/** Components of the status bar's item and its popup. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSummary } from '../api/types';
import { jobIcon } from '../ui/icons';
import { JobState } from '../api/aliases';
import {
  countText,
  iconStateOf,
  isActive,
  stateOf,
  stateWord
} from '../jobs/phase';
import { jobSentence, jobTitle } from '../jobs/sentence';
import { CommandIDs, IJobsModel } from '../tokens';
import { LinkButton } from '../ui/Buttons';
import { useSignal } from '../common/hooks';
import { Icon } from '../ui/Icon';
import { PhaseIcon } from '../jobs/PhaseIcon';
import { RunCommand } from '../common/commands';
import { listed } from '../common/format';

/** The active states in the order of display. */
const ORDER: JobState[] = [
  'running',
  'resuming',
  'submitting',
  'pending',
  'paused'
];
/** The maximum number of jobs in the popup. */
const SHOWN = 8;

/** Return the counts of active jobs by state: “2 running, 1 pending”. */
export function countsText(
  jobs: readonly JobSummary[],
  trans: TranslationBundle
): string {
  const states = jobs.filter(isActive).map(stateOf);
  const parts = ORDER.map(state => ({
    state,
    count: states.filter(other => other === state).length
  }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => countText(count, state, trans));
  return listed(parts);
}

/** The button in the status bar. */
export function StatusText({
  counts,
  onClick,
  trans
}: {
  /** Result of `countsText`. */
  counts: string;
  onClick: () => void;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <button
      type="button"
      className="jp-t9k-StatusText"
      aria-haspopup="dialog"
      title={trans.__('Distributed jobs: %1', counts)}
      onClick={onClick}
    >
      <Icon of={jobIcon} size={14} />
      <span>{counts}</span>
    </button>
  );
}

/** The popup: the user's own active jobs, and a button that shows all jobs. */
export function StatusPopup({
  jobs,
  run,
  trans
}: {
  jobs: IJobsModel;
  run: RunCommand;
  trans: TranslationBundle;
}): React.JSX.Element {
  useSignal(jobs.changed, 250);
  const active = jobs.jobs.filter(job => job.mine && isActive(job));
  const list = React.useRef<HTMLUListElement>(null);
  // JupyterLab's popup closes on Escape only while it contains the focus.
  React.useEffect(() => list.current?.querySelector('button')?.focus(), []);
  return (
    <>
      <ul ref={list}>
        {active.slice(0, SHOWN).map(job => (
          <li key={job.id}>
            <button
              type="button"
              title={jobSentence(job, trans)}
              onClick={() => run(CommandIDs.openJob, { id: job.id })}
            >
              <PhaseIcon
                state={iconStateOf(job)}
                label={stateWord(iconStateOf(job), trans)}
              />
              <span>{jobTitle(job)}</span>
              <span className="jp-t9k-secondary">
                {jobSentence(job, trans)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <footer>
        {active.length > SHOWN && (
          <span className="jp-t9k-secondary">
            {trans.__('and %1 more', active.length - SHOWN)}
          </span>
        )}
        <LinkButton onClick={() => run(CommandIDs.showJobs)}>
          {trans.__('Show all jobs')}
        </LinkButton>
      </footer>
    </>
  );
}
