/** Table of quotas. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Capacity } from '../../api/types';
import { leftOf } from '../model/capacity';
import { labelled } from '../model/capacityText';
import { formatAmount, formatFree } from '../../common/format';

/** Props of `QuotaTable`. */
interface IQuotaTableProps {
  capacity: Capacity;
  trans: TranslationBundle;
}

/**
 * Shows the quotas of the namespaces and the usage of the user's own jobs, if the account can't read the
 * cluster's nodes.
 */
export function QuotaTable({
  capacity,
  trans
}: IQuotaTableProps): React.JSX.Element {
  const { quotas, mine } = capacity;
  const lines = quotas.flatMap(({ namespace, lines }) =>
    lines.map(line => ({ namespace, ...line }))
  );
  const held = labelled(Object.entries(mine ?? {}), trans).map(
    ([label, resource, amount]) => `${label}: ${formatAmount(resource, amount)}`
  );
  return (
    <div className="jp-t9k-QuotaTable">
      <p>
        {mine === null
          ? trans.__('The usage of your jobs is not known.')
          : held.length > 0
            ? [trans.__('Used by your jobs'), ...held].join(' · ')
            : trans.__('Your jobs use nothing.')}
      </p>
      {quotas.map(
        ({ namespace, limited }) =>
          limited !== null && <p key={namespace}>{limited}</p>
      )}
      {lines.length > 0 && (
        <table className="jp-t9k-Table" aria-label={trans.__('Quotas')}>
          <thead>
            <tr>
              <th>{trans.__('Namespace')}</th>
              <th>{trans.__('Quota')}</th>
              <th>{trans.__('Resource')}</th>
              <th className="jp-t9k-Table-number">{trans.__('Left')}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(line => (
              <tr key={`${line.namespace} ${line.quota} ${line.resource}`}>
                <td>{line.namespace}</td>
                <td>
                  {line.quota}
                  {line.scoped && (
                    <span className="jp-t9k-caption">
                      {' '}
                      {trans.__('of some pods')}
                    </span>
                  )}
                </td>
                <td>{line.resource}</td>
                <td className="jp-t9k-Table-number">
                  <b>{formatFree(line.resource, leftOf(line))}</b>{' '}
                  {trans._p(
                    'total',
                    'of %1',
                    formatAmount(line.resource, line.hard)
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
