/** Collectives in which the ranks of a job wait, from PyTorch's flight recorder and from NCCL. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Collective, CollectiveCall } from '../../api/types';
import { capital, rankList } from './text';

/** Properties of the collectives. */
interface ICollectivesProps {
  collectives: readonly Collective[];
  trans: TranslationBundle;
}

/** A table for each process group whose ranks wait: how each rank calls the collective, and which have not joined. */
export function Collectives(
  props: ICollectivesProps
): React.JSX.Element | null {
  const { collectives, trans } = props;
  if (collectives.length === 0) {
    return null;
  }
  return (
    <div className="jp-t9k-Stacks-collectives">
      {collectives.map((collective, index) => (
        <CollectiveCard key={index} collective={collective} trans={trans} />
      ))}
    </div>
  );
}

function CollectiveCard(props: {
  collective: Collective;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { collective, trans } = props;
  const { calls, missing, silent } = collective;
  const title = React.useId();
  return (
    <section
      className="jp-t9k-StackGroup"
      data-odd={missing.length > 0 || calls.length > 1 || undefined}
      aria-labelledby={title}
    >
      <header>
        <h3 id={title}>{capital(collective.finding)}</h3>
        <p className="jp-t9k-secondary">{groupText(collective, trans)}</p>
      </header>
      <table className="jp-t9k-Collective">
        <thead>
          <tr>
            <th scope="col">{trans.__('Ranks')}</th>
            <th scope="col">{trans.__('Call')}</th>
            <th scope="col">{trans.__('Sizes in → out')}</th>
            <th scope="col">{trans.__('Type')}</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call, index) => (
            <tr key={index}>
              <td>{rankList(call.ranks)}</td>
              <td>
                <code>
                  {call.backend ? `${call.backend}:${call.name}` : call.name}
                </code>
              </td>
              <td>
                <code>{sizesText(call)}</code>
              </td>
              <td>{call.dtype}</td>
            </tr>
          ))}
          {missing.length > 0 && (
            <tr>
              <td>{rankList(missing)}</td>
              <td colSpan={3}>{trans.__('not joined')}</td>
            </tr>
          )}
          {silent.length > 0 && (
            <tr>
              <td>{rankList(silent)}</td>
              <td colSpan={3}>
                {collective.source === 'ras'
                  ? trans.__('no answer')
                  : trans.__('no record was read')}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

/** Return the name of the process group, and that NCCL has counted the calls. */
function groupText(
  { source, group, own_ranks }: Collective,
  trans: TranslationBundle
): string {
  if (source === 'recorder') {
    return group
      ? trans.__('Process group %1', group)
      : trans.__('Default process group');
  }
  const name = group
    ? trans.__('Communicator %1 of NCCL', group)
    : trans.__('Communicator of all ranks, from NCCL');
  return own_ranks
    ? trans.__('%1, ranks as the communicator numbers them', name)
    : name;
}

/** Return “[4] → [4], [4]”; an empty text if no sizes are known. */
function sizesText({ inputs, outputs }: CollectiveCall): string {
  if (inputs.length === 0 && outputs.length === 0) {
    return '';
  }
  const [from, to] = [inputs, outputs].map(shapes =>
    shapes.map(shape => `[${shape.join(', ')}]`).join(', ')
  );
  return `${from} → ${to}`;
}
