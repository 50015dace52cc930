/** Dialog that chooses jobs to compare. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobName } from '../../jobs/JobName';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { iconStateOf, stateWord } from '../../jobs/phase';
import { chooseItems } from '../../shell/chooseItems';
import { IJobsModel } from '../../tokens';

/** Jobs that the dialog offers: the newest. */
const MOST_OFFERED = 200;

/**
 * Let the user choose further jobs of a comparison; null if the user cancels.
 *
 * @param known - Ids of the jobs that are compared already.
 */
export function askJobs(
  { jobs }: Pick<IJobsModel, 'jobs'>,
  known: readonly string[],
  trans: TranslationBundle
): Promise<string[] | null> {
  const others = jobs
    .filter(({ id }) => !known.includes(id))
    .slice(0, MOST_OFFERED);
  return chooseItems({
    title: trans.__('Add jobs to the comparison'),
    label:
      others.length > 0
        ? trans.__('Select one or more jobs.')
        : trans.__('There are no other jobs.'),
    okLabel: trans.__('Compare'),
    items: others.map(job => {
      const state = iconStateOf(job);
      return {
        id: job.id,
        content: (
          <>
            <PhaseIcon
              state={state}
              label={stateWord(state, trans)}
              size={14}
            />{' '}
            <JobName job={job} />
          </>
        )
      };
    })
  });
}
