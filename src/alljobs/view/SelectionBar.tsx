/** Line with a summary of the jobs, or with the actions on the selected ones. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSummary } from '../../api/types';
import { serverNow } from '../../common/clock';
import { useTicking } from '../../common/hooks';
import { Button, LinkButton } from '../../ui/Buttons';
import { ReasonButton } from '../../ui/ReasonButton';
import { tensorBoardIcon } from '../../ui/icons';
import { BulkKind, partOf } from '../model/bulk';
import { gpuHours, sumOfHours } from '../model/facts';
import { JobTableModel } from '../model/table';
import { gpuHoursText, jobsText, ownerKey, ownersText } from './text';

/** Actions of the line. */
export interface ISelectionActions {
  /** Why the selected jobs cannot be compared; null if they can be. */
  readonly compareProblem: string | null;
  compare(): void;
  /** Why no TensorBoard can show the jobs; null if one can. */
  tensorBoardProblem(jobs: readonly JobSummary[]): string | null;
  openTensorBoard(jobs: readonly JobSummary[]): void;
  showRuns(jobs: readonly JobSummary[]): void;
  exportCsv(jobs: readonly JobSummary[]): void;
  /** Ask for a confirmation, then act on jobs. */
  actOnAll(action: BulkKind, jobs: readonly JobSummary[]): void;
  /** The action that is carried out, with the number of its jobs; null if none is. */
  readonly running: { done: number; total: number } | null;
}

interface ISelectionBarProps {
  model: JobTableModel;
  actions: ISelectionActions;
  trans: TranslationBundle;
}

/** The line has the same height with and without a selection, so that rows do not move. */
export function SelectionBar(props: ISelectionBarProps): React.JSX.Element {
  return props.model.selected.length === 0 ? (
    <Summary {...props} />
  ) : (
    <Actions {...props} />
  );
}

/** Number of the shown jobs and their GPU-hours. */
function Summary({ model, trans }: ISelectionBarProps): React.JSX.Element {
  const { shown } = model;
  const text = useTicking(() => summaryText(shown, trans));
  return (
    <p className="jp-t9k-Runs-selection jp-t9k-secondary">
      <span>{text}</span>
      <span className="jp-t9k-Runs-space" />
      <span>
        {trans.__('Select jobs to compare, export, stop or delete them.')}
      </span>
    </p>
  );
}

/** Return the summary of jobs: “48 jobs, 986 GPU-hours: lin 412, wei 574”. */
export function summaryText(
  jobs: readonly JobSummary[],
  trans: TranslationBundle
): string {
  const now = serverNow();
  const sums = new Map<string, number>();
  let total: number | null = null;
  for (const job of jobs) {
    const hours = gpuHours(job, now);
    if (hours !== null) {
      total = (total ?? 0) + hours;
      const owner = ownerKey(job);
      sums.set(owner, (sums.get(owner) ?? 0) + hours);
    }
  }
  const count = jobsText(jobs.length, trans);
  if (total === null) {
    return count;
  }
  const hours = trans.__('%1, %2 GPU-hours', count, gpuHoursText(total));
  return sums.size > 1 ? `${hours}: ${ownersText(sums, trans)}` : hours;
}

function Actions({
  model,
  actions,
  trans
}: ISelectionBarProps): React.JSX.Element {
  const { selected } = model;
  const hours = useTicking(() =>
    gpuHoursText(sumOfHours(selected, serverNow()))
  );
  const { running } = actions;
  const busy = running
    ? trans.__('%1 of %2 done…', running.done, running.total)
    : null;
  const bulk = (
    action: BulkKind,
    all: string,
    some: (part: number, of: number) => string,
    none: string
  ): React.JSX.Element => {
    const part = partOf(selected, action);
    return (
      <ReasonButton
        key={action}
        problem={busy ?? (part.length === 0 ? none : null)}
        onClick={() => actions.actOnAll(action, part)}
      >
        {part.length === 0 || part.length === selected.length
          ? all
          : some(part.length, selected.length)}
      </ReasonButton>
    );
  };
  const count = selected.length;
  const pausable = partOf(selected, 'pause').length > 0;
  const resumable = partOf(selected, 'resume').length > 0;
  const hint =
    busy ??
    (partOf(selected, 'stop').length === 0
      ? trans._n(
          'Stop: the job is not active',
          'Stop: none of the %1 is active',
          count
        )
      : partOf(selected, 'delete').length === 0
        ? trans.__('Delete: active jobs are left alone')
        : null);
  return (
    <div
      className="jp-t9k-Runs-selection"
      role="group"
      aria-label={trans.__('Selected jobs')}
    >
      <strong role="status">
        {trans._n('%1 selected', '%1 selected', count)}
      </strong>
      {hours && (
        <span className="jp-t9k-secondary">
          {trans.__('%1 GPU-hours', hours)}
        </span>
      )}
      <ReasonButton
        kind="primary"
        problem={actions.compareProblem}
        onClick={() => actions.compare()}
      >
        {trans.__('Compare')}
      </ReasonButton>
      <ReasonButton
        problem={actions.tensorBoardProblem(selected)}
        icon={tensorBoardIcon}
        onClick={() => actions.openTensorBoard(selected)}
      >
        {trans.__('Open in one TensorBoard')}
      </ReasonButton>
      <Button onClick={() => actions.showRuns(selected)}>
        {trans.__('Show runs')}
      </Button>
      <Button onClick={() => actions.exportCsv(selected)}>
        {trans.__('Export CSV')}
      </Button>
      {bulk(
        'stop',
        trans.__('Stop…'),
        (part, of) => trans.__('Stop %1 of %2…', part, of),
        trans.__('None of the selected jobs is active.')
      )}
      {pausable &&
        bulk(
          'pause',
          trans.__('Pause…'),
          (part, of) => trans.__('Pause %1 of %2…', part, of),
          ''
        )}
      {resumable &&
        bulk(
          'resume',
          trans.__('Resume'),
          (part, of) => trans.__('Resume %1 of %2', part, of),
          ''
        )}
      {bulk(
        'delete',
        trans.__('Delete…'),
        (part, of) => trans.__('Delete %1 of %2…', part, of),
        trans.__('Active jobs are left alone. Stop them first.')
      )}
      {hint && (
        <span className="jp-t9k-secondary" role="status">
          {hint}
        </span>
      )}
      <span className="jp-t9k-Runs-space" />
      <LinkButton
        onClick={() => {
          model.selection = model.selection.set(
            [...model.selection.ids],
            false
          );
        }}
      >
        {trans.__('Clear selection')}
      </LinkButton>
    </div>
  );
}
