/** Body of the dialogs that ask for confirmation. */

import * as React from 'react';
import { hintIcon, stateIcons } from './icons';
import { lostIcon } from './pageIcons';
import { Icon } from './Icon';

/** One line of a confirmation dialog: something that is deleted, something that is kept, or a hint. */
export interface IConsequence {
  kind: 'lost' | 'kept' | 'hint';
  text: string;
}

const icons = {
  lost: lostIcon,
  kept: stateIcons.succeeded,
  hint: hintIcon
};

interface IConfirmProps {
  /** Introductory sentence. */
  says?: string;
  consequences: readonly IConsequence[];
  /** Headings of the deleted and the kept items, where the lines do not say it themselves. */
  titles?: { lost: string; kept: string };
}

/** The body of a confirmation dialog: a sentence and the list of consequences. */
export function Confirm({
  says,
  consequences,
  titles
}: IConfirmProps): React.JSX.Element {
  const lines = (kind?: IConsequence['kind']): React.JSX.Element => (
    <ul className="jp-t9k-Points">
      {consequences
        .filter(line => kind === undefined || line.kind === kind)
        .map(line => {
          const icon = icons[line.kind];
          return (
            <li key={line.text} data-kind={line.kind}>
              <Icon of={icon} size={16} />
              <span>{line.text}</span>
            </li>
          );
        })}
    </ul>
  );
  return (
    <div className="jp-t9k-View jp-t9k-Confirm">
      {says && <p>{says}</p>}
      {titles ? (
        <>
          <strong>{titles.lost}</strong>
          {lines('lost')}
          <strong>{titles.kept}</strong>
          {lines('kept')}
        </>
      ) : (
        lines()
      )}
    </div>
  );
}
