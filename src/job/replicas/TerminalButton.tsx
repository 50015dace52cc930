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
  /** Search a replica for its ranks; return where terminals can be opened. */
  search(replica: string): Promise<TerminalList>;
  open(place: TerminalPlace): void;
  trans: TranslationBundle;
}

/** Opens a terminal in a replica, or a menu if its ranks have terminals as well. Disabled with the reason. */
export function TerminalButton(props: ITerminalButtonProps): React.JSX.Element {
  const { replica, terminals, search, open, trans } = props;
  const [isSearching, setSearching] = React.useState(false);
  const placesIn = (list: TerminalList | null): TerminalPlace[] =>
    (list?.places ?? []).filter(place => place.replica === replica.name);
  const places = placesIn(terminals);
  const mustSearch = terminals?.searchable.includes(replica.name) ?? false;
  const label = trans.__('Terminal in %1', replica.name);
  const problem = !terminals
    ? trans.__('Reading the job…')
    : !terminals.available.supported
      ? (terminals.available.reason ?? '')
      : places.length
        ? null
        : trans.__('The replica does not run.');
  const id = React.useId();
  const choose = (anchor: HTMLElement, found: TerminalPlace[]): void => {
    if (found.length > 1 && anchor.isConnected) {
      openMenu(
        anchor,
        found.map(place => ({
          label:
            place.rank === null
              ? replica.name
              : trans.__('Rank %1', place.rank),
          execute: () => open(place)
        }))
      );
    } else if (found.length) {
      open(found[0]);
    }
  };
  const onClick = async (anchor: HTMLElement): Promise<void> => {
    if (!mustSearch) {
      choose(anchor, places);
      return;
    }
    setSearching(true);
    // The terminal of the replica tells why no command runs there.
    const found = await search(replica.name).then(placesIn, () => places);
    setSearching(false);
    choose(anchor, found.length ? found : places);
  };
  return (
    <>
      <IconButton
        icon={terminalIcon}
        label={label}
        title={problem ? `${label}: ${problem}` : label}
        tabIndex={-1}
        aria-disabled={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : id}
        aria-haspopup={mustSearch || places.length > 1 ? 'menu' : undefined}
        aria-busy={isSearching || undefined}
        onClick={({ currentTarget }) => {
          if (problem === null && !isSearching) {
            void onClick(currentTarget);
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
