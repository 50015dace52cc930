/** Bar with the actions on the selected runs. */
import * as React from 'react';
import { Button, LinkButton } from '../../../ui/Buttons';
import { ReasonButton } from '../../../ui/ReasonButton';
import { tensorBoardIcon } from '../../../ui/icons';
import { IToolbarProps } from './Toolbar';

/** Bar with the actions on the selected runs. It is shown without a selection too, so that rows do not move. */
export function SelectionBar({
  model,
  actions,
  lab
}: IToolbarProps): React.JSX.Element {
  const { trans } = lab;
  const { selected } = model;
  const { compareProblem } = actions;
  const tensorBoardProblem = actions.tensorBoardProblem(selected);
  if (selected.length === 0) {
    return (
      <p className="jp-t9k-Runs-selection jp-t9k-secondary">
        {trans.__(
          'Select runs to compare, tag, export or delete them: click a box, or press Space in a row.'
        )}
      </p>
    );
  }
  const areArchived = selected.every(({ archived }) => archived);
  return (
    <div
      className="jp-t9k-Runs-selection"
      role="group"
      aria-label={trans.__('Selected runs')}
    >
      <strong role="status">
        {trans._n('%1 selected', '%1 selected', selected.length)}
      </strong>
      {compareProblem !== undefined && (
        <ReasonButton
          kind="primary"
          problem={compareProblem}
          onClick={actions.compare}
        >
          {trans.__('Compare')}
        </ReasonButton>
      )}
      <ReasonButton
        problem={tensorBoardProblem}
        icon={tensorBoardIcon}
        onClick={() => actions.openTensorBoard(selected)}
      >
        {trans.__('Open in one TensorBoard')}
      </ReasonButton>
      <Button onClick={() => actions.tag()}>{trans.__('Tag…')}</Button>
      <Button onClick={() => actions.copyPandas(selected)}>
        {trans.__('Copy as pandas')}
      </Button>
      <Button onClick={() => actions.exportCsv(selected)}>
        {trans.__('Export CSV')}
      </Button>
      <Button onClick={() => actions.archive(selected, !areArchived)}>
        {areArchived ? trans.__('Restore') : trans.__('Archive')}
      </Button>
      <Button onClick={() => actions.remove()}>{trans.__('Delete…')}</Button>
      <span className="jp-t9k-Runs-space" />
      <LinkButton
        onClick={() => {
          const ids = [...model.selection.ids];
          model.selection = model.selection.set(ids, false);
        }}
      >
        {trans.__('Clear selection')}
      </LinkButton>
    </div>
  );
}
