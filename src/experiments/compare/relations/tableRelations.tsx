/** Parallel coordinates and scatter plot of the runs of the table; loaded when they are chosen first. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { RunRow } from '../../../api/types';
import { goalOf } from '../../model/fields';
import { ExperimentsModel } from '../../model/experiments';
import { namesOf } from '../../run/actions';
import { mainMetric } from '../differences';
import { RelatedRuns, Relations } from './Relations';
import '../../../../style/pages.css';
import '../../../../style/experiments/pages.css';

/** Selected runs that are drawn in colours, and other runs. */
const MOST_COLOURED = 8;
const MOST_OTHERS = 2000;

/** Properties of the relations of the table. */
export interface ITableRelationsProps {
  model: ExperimentsModel;
  trans: TranslationBundle;
}

/** Runs of the table that match the filter: selected ones in colours, the others in grey. */
export function TableRelations({
  model,
  trans
}: ITableRelationsProps): React.JSX.Element {
  const { runs, selection, view, store } = model;
  const coloured = React.useMemo(
    () =>
      runs.filter(({ id }) => selection.ids.has(id)).slice(0, MOST_COLOURED),
    [runs, selection]
  );
  const others = React.useMemo(() => {
    const shown = new Set(coloured);
    return runs.filter(run => !shown.has(run)).slice(0, MOST_OTHERS);
  }, [runs, coloured]);
  const related = React.useMemo((): RelatedRuns => {
    const goal: RelatedRuns['goalOf'] = name => {
      const column = store.columns.find(
        each => each.group === 'metrics' && each.name === name
      );
      return column ? goalOf(column, view) : null;
    };
    return {
      others,
      goalOf: goal,
      metric: mainMetric([...coloured, ...others], goal),
      styleOf: ({ id }) =>
        Math.max(
          0,
          coloured.findIndex(run => run.id === id)
        )
    };
  }, [coloured, others, store.columns, view]);
  const labels = React.useMemo(
    () => new Map(namesOf(coloured).map((name, at) => [coloured[at].id, name])),
    [coloured]
  );
  const left = runs.length - coloured.length - others.length;
  return (
    <div className="jp-t9k-Runs-relations">
      <p className="jp-t9k-CompareView-note jp-t9k-secondary">
        {noteOf(coloured, left, trans)}
      </p>
      <Relations
        model={related}
        runs={coloured}
        labels={labels}
        lab={{
          openRuns: filter =>
            model.change({
              filter: view.filter ? `(${view.filter}) and ${filter}` : filter
            })
        }}
        trans={trans}
      />
    </div>
  );
}

function noteOf(
  coloured: readonly RunRow[],
  left: number,
  trans: TranslationBundle
): string {
  const text =
    coloured.length > 0
      ? trans.__(
          'The selected runs are drawn in colours, at most %1.',
          MOST_COLOURED
        )
      : trans.__('Runs that are selected in the table are drawn in colours.');
  return left > 0
    ? `${text} ${trans._n(
        '%1 run is not drawn. Use the filter.',
        '%1 runs are not drawn. Use the filter.',
        left
      )}`
    : text;
}
