/** Tables of names and values with a filter: parameters, environment. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatScalar } from '../charts/numbers';
import { Scalar } from '../types';
import { FilterField } from './FilterField';

/** A part of the table with a heading. */
export interface IFacts {
  title: string;
  /** Origin of the values, in words. */
  source?: string;
  facts: readonly { name: string; value: Scalar }[];
}

interface IFactsTableProps {
  parts: readonly IFacts[];
  /** Name of the filter field. */
  filterLabel: string;
  /** Sentence for a run without any facts. */
  none: string;
  trans: TranslationBundle;
}

/** Names and values in parts, filtered by name or value. */
export function FactsTable(props: IFactsTableProps): React.JSX.Element {
  const { parts, trans } = props;
  const [filter, setFilter] = React.useState('');
  const wanted = filter.trim().toLowerCase();
  const shown = parts.map(part => ({
    ...part,
    facts: part.facts.filter(({ name, value }) =>
      [name, formatScalar(value)].some(text =>
        text.toLowerCase().includes(wanted)
      )
    )
  }));
  const isEmpty = parts.every(({ facts }) => facts.length === 0);
  if (isEmpty) {
    return <p className="jp-t9k-MetricsPane-none">{props.none}</p>;
  }
  return (
    <div className="jp-t9k-RunFacts">
      <div className="jp-t9k-ChartsToolbar">
        <FilterField
          label={props.filterLabel}
          value={filter}
          onChange={setFilter}
        />
      </div>
      {shown.every(({ facts }) => facts.length === 0) && (
        <p className="jp-t9k-MetricsPane-none">
          {trans.__('Nothing matches the filter.')}
        </p>
      )}
      {shown
        .filter(
          ({ facts, source }) =>
            facts.length > 0 || (source !== undefined && wanted === '')
        )
        .map(({ title, source, facts }) => (
          <section key={title} aria-label={title}>
            <h3>
              {title}{' '}
              {source && <span className="jp-t9k-caption">{source}</span>}
            </h3>
            {facts.length > 0 && (
              <table className="jp-t9k-Table">
                <tbody>
                  {facts.map(({ name, value }) => (
                    <tr key={name}>
                      <th scope="row">{name}</th>
                      <td>{formatScalar(value)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </section>
        ))}
    </div>
  );
}

/** Return an object's entries as facts. Unknown values are left out. */
export function factsOf(
  values: Readonly<Record<string, Scalar>>
): { name: string; value: Scalar }[] {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => ({ name, value }));
}
