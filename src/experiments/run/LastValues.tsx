/** Table of the last and the best values of a run's metrics. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatCount } from '../../common/format';
import { formatValue, NO_VALUE } from '../charts/numbers';
import { bestOf } from './model/best';
import { RunModel } from './model/run';

interface ILastValuesProps {
  model: RunModel;
  metrics: readonly string[];
  trans: TranslationBundle;
}

/** Last value, best value and number of values of each metric. */
export function LastValues(props: ILastValuesProps): React.JSX.Element {
  const { model, metrics, trans } = props;
  return (
    <table className="jp-t9k-Table jp-t9k-LastValues">
      <thead>
        <tr>
          <th scope="col">{trans.__('Metric')}</th>
          <th scope="col" className="jp-t9k-Table-number">
            {trans.__('Last')}
          </th>
          <th scope="col" className="jp-t9k-Table-number">
            {trans.__('Best')}
          </th>
          <th scope="col" className="jp-t9k-Table-number">
            {trans.__('Best at')}
          </th>
          <th scope="col" className="jp-t9k-Table-number">
            {trans.__('Values')}
          </th>
        </tr>
      </thead>
      <tbody>
        {metrics.map(name => {
          const summary = model.summary(name);
          const best = bestOf(summary, model.goal(name));
          return (
            <tr key={name}>
              <th scope="row" title={name}>
                {name}
              </th>
              <td className="jp-t9k-Table-number">
                {formatValue(summary?.last)}
              </td>
              <td className="jp-t9k-Table-number">
                {best ? <strong>{formatValue(best.value)}</strong> : NO_VALUE}
              </td>
              <td className="jp-t9k-Table-number">
                {best && best.step !== null
                  ? trans.__('step %1', formatValue(best.step))
                  : NO_VALUE}
              </td>
              <td className="jp-t9k-Table-number">
                {summary ? formatCount(summary.count) : NO_VALUE}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
