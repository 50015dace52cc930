/** Table of the differences between compared jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ComparisonTable } from '../../experiments/compare/ComparisonTable';
import { GoalOf } from '../../experiments/compare/differences';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { stateOf, stateWord } from '../../jobs/phase';
import { ICompared, sectionsOf } from './sections';

interface IJobDifferencesProps {
  compared: readonly ICompared[];
  goalOf: GoalOf;
  /** Return the number of the colour and dash of a job's curves; null if it has no curves. */
  styleOf(job: ICompared): number | null;
  open(id: string): void;
  /** Leave a job out; null if there are only two. */
  remove: ((id: string) => void) | null;
  trans: TranslationBundle;
}

/** One column for each job. */
export function JobDifferences(props: IJobDifferencesProps): React.JSX.Element {
  const { compared, goalOf, styleOf, open, remove, trans } = props;
  const columns = compared.map(each => {
    const { id, name } = each.job;
    const state = stateOf(each.job);
    return {
      id,
      name,
      icon: (
        <PhaseIcon state={state} label={stateWord(state, trans)} size={14} />
      ),
      style: styleOf(each),
      open: () => open(id),
      remove: remove && (() => remove(id))
    };
  });
  return (
    <ComparisonTable
      label={trans.__('Differences between the jobs')}
      columns={columns}
      sectionsOf={showEqual => sectionsOf(compared, goalOf, showEqual, trans)}
      further={null}
      trans={trans}
    />
  );
}
