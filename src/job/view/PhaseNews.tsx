/** Announcements of a job's state for screen readers. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job } from '../../api/types';
import { JobState } from '../../api/aliases';
import { iconStateOf } from '../../jobs/phase';
import { jobLabel } from '../../jobs/sentence';

/** Announces each new state of a job once to screen readers. A failure interrupts other announcements. */
export function PhaseNews({
  job,
  trans
}: {
  job: Job;
  trans: TranslationBundle;
}): React.JSX.Element {
  const state = iconStateOf(job);
  const [told, tell] = React.useState<{ state: JobState; text: string }>({
    state,
    text: ''
  });
  // The state in which the tab opens is not announced.
  if (state !== told.state) {
    tell({ state, text: jobLabel(job, trans) });
  }
  const failed = told.state === 'failed';
  return (
    <div className="jp-t9k-visuallyHidden">
      <span role="status">{failed ? '' : told.text}</span>
      <span role="alert">{failed ? told.text : ''}</span>
    </div>
  );
}
