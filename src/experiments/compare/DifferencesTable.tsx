/** Table of the differences between compared runs. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatValue } from '../charts/numbers';
import { IRunLab } from '../run/pageLab';
import { StatusIcon } from '../run/StatusIcon';
import { RunRow } from '../../api/types';
import { ComparisonTable } from './ComparisonTable';
import { differenceOf } from './differences';
import { CompareModel } from './model';
import { sectionsOf } from './sections';

interface IDifferencesTableProps {
  model: CompareModel;
  runs: readonly RunRow[];
  /** Names that tell the runs apart. */
  labels: readonly string[];
  lab: IRunLab;
  trans: TranslationBundle;
}

/** One column for each run, and the difference of two runs. */
export function DifferencesTable(
  props: IDifferencesTableProps
): React.JSX.Element {
  const { model, runs, labels, lab, trans } = props;
  const columns = runs.map((run, index) => ({
    id: run.id,
    name: labels[index],
    icon: <StatusIcon status={run.status} label={run.sentence} size={14} />,
    style: model.styleOf(run),
    open: () => lab.openRun(run.id),
    remove:
      runs.length > 1
        ? () => lab.openComparison(model.ids.filter(id => id !== run.id))
        : null
  }));
  return (
    <ComparisonTable
      label={trans.__('Differences between the runs')}
      columns={columns}
      sectionsOf={showEqual => sectionsOf(runs, model.goalOf, showEqual, trans)}
      further={
        runs.length === 2
          ? {
              title: trans.__('Difference'),
              cell: ({ values }) => signed(differenceOf(values))
            }
          : null
      }
      besideName={({ key }, { name }) =>
        key === 'metrics' && (
          <Direction name={name} model={model} trans={trans} />
        )
      }
      trans={trans}
    />
  );
}

/** Button that shows the direction in which a metric improves, and reverses it. */
function Direction(props: {
  name: string;
  model: CompareModel;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { name, model, trans } = props;
  const goal = model.goalOf(name);
  const label =
    goal === null
      ? trans.__('%1: it is not known which value is better. Change it.', name)
      : goal === 'min'
        ? trans.__('%1: less is better. Change it.', name)
        : trans.__('%1: more is better. Change it.', name);
  return (
    <button
      type="button"
      className="jp-t9k-LinkButton jp-t9k-Differences-goal"
      aria-label={label}
      title={label}
      onClick={() => model.turn(name)}
    >
      {goal === null ? '↕' : goal === 'min' ? '↓' : '↑'}
    </button>
  );
}

function signed(difference: number | null): string {
  return difference === null
    ? ''
    : `${difference > 0 ? '+' : ''}${formatValue(Number(difference.toPrecision(6)))}`;
}
