/** The use of resources as a table, one row for each metric and part. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ResourceView } from '../../api/types';
import { formatWithUnit } from './amounts';
import { Curve } from './layout';
import { nameOf } from './names';
import { listed } from '../../common/format';

interface IResourceTableProps {
  view: ResourceView;
  trans: TranslationBundle;
}

/** Last value, mean and extremes of each curve in the shown range of time. */
export function ResourceTable({
  view,
  trans
}: IResourceTableProps): React.JSX.Element {
  return (
    <table className="jp-t9k-Table jp-t9k-ResourceTable">
      <thead>
        <tr>
          <th>{trans.__('Metric')}</th>
          <th>{trans.__('Part')}</th>
          <th data-number>{trans.__('Last')}</th>
          <th data-number>{trans.__('Mean')}</th>
          <th data-number>{trans.__('Least')}</th>
          <th data-number>{trans.__('Most')}</th>
          <th>{trans.__('Limits')}</th>
        </tr>
      </thead>
      <tbody>
        {view.rows.flatMap(row =>
          row.curves.map(curve => {
            const format = (value: number | null): string =>
              value === null ? '–' : formatWithUnit(value, row.unit, trans);
            const { last, mean, least, most } = figuresOf(curve);
            return (
              <tr key={`${row.metric} ${curve.replica} ${curve.number}`}>
                <th scope="row">{row.title}</th>
                <td>{partOf(curve, view.replicas, trans)}</td>
                <td data-number>{format(last)}</td>
                <td data-number>{format(mean)}</td>
                <td data-number>{format(least)}</td>
                <td data-number>{format(most)}</td>
                <td>{listed(row.levels.map(({ label }) => label))}</td>
              </tr>
            );
          })
        )}
      </tbody>
    </table>
  );
}

/** Return the name of a curve, after that of its replica if the job has several replicas. */
function partOf(
  curve: Curve,
  replicas: readonly string[],
  trans: TranslationBundle
): string {
  const names = [replicas.length > 1 ? curve.replica : null];
  return listed(
    [...new Set([...names, nameOf(curve, trans)])].filter(name => !!name)
  );
}

/** Return single figures of a curve; null without values. */
export function figuresOf(
  curve: Curve
): Record<'last' | 'mean' | 'least' | 'most', number | null> {
  const given = (values: readonly (number | null)[]): number[] =>
    values.filter(value => value !== null);
  const [low, mean, high] = [curve.low, curve.mean, curve.high].map(given);
  if (mean.length === 0) {
    return { last: null, mean: null, least: null, most: null };
  }
  return {
    last: mean[mean.length - 1],
    mean: mean.reduce((sum, value) => sum + value, 0) / mean.length,
    least: low.reduce((a, b) => Math.min(a, b), Infinity),
    most: high.reduce((a, b) => Math.max(a, b), -Infinity)
  };
}
