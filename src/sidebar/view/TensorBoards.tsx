/** List of TensorBoards in the sidebar. */

import {
  caretDownIcon,
  caretRightIcon,
  refreshIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { TensorBoard } from '../../api/types';
import { tensorBoardIcon } from '../../ui/icons';
import { CommandIDs } from '../../tokens';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { TensorBoardState } from '../../tensorboard/view/TensorBoardState';
import { RunCommand } from '../../common/commands';

interface ITensorBoardsProps {
  tensorboards: readonly TensorBoard[];
  folded: boolean;
  onFold: () => void;
  run: RunCommand;
  trans: TranslationBundle;
}

/** The section of running TensorBoards at the bottom of the sidebar. */
export function TensorBoards(props: ITensorBoardsProps): React.JSX.Element {
  const { tensorboards, folded, trans } = props;
  const caret = folded ? caretRightIcon : caretDownIcon;
  return (
    <section
      className="jp-t9k-TensorBoards"
      aria-label={trans.__('TensorBoards')}
    >
      <header className="jp-t9k-SectionTitle">
        <button type="button" aria-expanded={!folded} onClick={props.onFold}>
          <Icon of={caret} />
          <span>{trans.__('TensorBoards')}</span>
          <small>{tensorboards.length}</small>
        </button>
        <LinkButton onClick={() => props.run(CommandIDs.chooseLogDirectory)}>
          {trans.__('Open…')}
        </LinkButton>
      </header>
      {!folded &&
        (tensorboards.length ? (
          <ul>
            {tensorboards.map(board => (
              <Row key={board.id} board={board} {...props} />
            ))}
          </ul>
        ) : (
          <p className="jp-t9k-secondary">
            {trans.__(
              'None running. Right-click a folder of event files and choose Open in TensorBoard.'
            )}
          </p>
        ))}
    </section>
  );
}

/** A TensorBoard with buttons that open, restart and stop it. */
function Row(
  props: ITensorBoardsProps & { board: TensorBoard }
): React.JSX.Element {
  const { board, trans } = props;
  return (
    <li>
      <button
        type="button"
        className="jp-t9k-TensorBoards-open"
        title={board.log_dirs.join('\n')}
        onClick={() => props.run(CommandIDs.openTensorBoard, { id: board.id })}
      >
        <Icon of={tensorBoardIcon} size={16} />
        <span className="jp-t9k-TensorBoards-label">{board.label}</span>
        <span className="jp-t9k-caption">
          <TensorBoardState board={board} trans={trans} />
        </span>
      </button>
      <span className="jp-t9k-TensorBoards-actions">
        <IconButton
          icon={refreshIcon}
          label={trans._p('button', 'Restart')}
          onClick={() =>
            props.run(CommandIDs.restartTensorBoard, { id: board.id })
          }
        />
        <IconButton
          icon={stopIcon}
          label={trans.__('Stop')}
          onClick={() =>
            props.run(CommandIDs.stopTensorBoard, { id: board.id })
          }
        />
      </span>
    </li>
  );
}
