/** Button of a replica that opens a terminal. */
import { TranslationBundle } from '@jupyterlab/translation';
import { terminalIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Replica, TerminalList, TerminalPlace } from '../../api/types';
import { openMenu } from '../../common/menu';
import { IconButton } from '../../ui/Buttons';

/** Properties of the button. */
interface ITerminalButtonProps {
  replica: Replica;
  /** Where terminals can be opened; null until that is known. */
  terminals: TerminalList | null;
  open(place: TerminalPlace): void;
  trans: TranslationBundle;
}

/** Opens a terminal in a replica, or a menu if its ranks have terminals as well. Disabled with the reason. */
export function TerminalButton(props: ITerminalButtonProps): React.JSX.Element {
  const { replica, terminals, open, trans } = props;
  const places = (terminals?.places ?? []).filter(
    place => place.replica === replica.name
  );
  const label = trans.__('Terminal in %1', replica.name);
  const problem = !terminals
    ? trans.__('Reading the job…')
    : !terminals.available.supported
      ? (terminals.available.reason ?? '')
      : places.length
        ? null
        : trans.__('The replica does not run.');
  const id = React.useId();
  return (
    <>
      <IconButton
        icon={terminalIcon}
        label={label}
        title={problem ? `${label}: ${problem}` : label}
        tabIndex={-1}
        aria-disabled={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : id}
        aria-haspopup={places.length > 1 ? 'menu' : undefined}
        onClick={({ currentTarget }) => {
          if (problem === null && places.length > 1) {
            openMenu(
              currentTarget,
              places.map(place => ({
                label:
                  place.rank === null
                    ? replica.name
                    : trans.__('Rank %1', place.rank),
                execute: () => open(place)
              }))
            );
          } else if (problem === null) {
            open(places[0]);
          }
        }}
      />
      {problem !== null && (
        <span id={id} className="jp-t9k-visuallyHidden">
          {problem}
        </span>
      )}
    </>
  );
}
