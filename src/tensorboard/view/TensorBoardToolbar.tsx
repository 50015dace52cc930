import { launchIcon, refreshIcon, stopIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { TensorBoard } from '../../api/types';
import { jobIcon, tensorBoardIcon } from '../../ui/icons';
import { formatCount } from '../../common/format';
import { CommandIDs } from '../../tokens';
import { Button, IconButton } from '../../ui/Buttons';
import { useSignal, useValue } from '../../common/hooks';
import { Icon } from '../../ui/Icon';
import { ITensorBoardView, IViewProps, jobOf } from './tensorBoardTab';
import { TensorBoardState } from './TensorBoardState';
import { mayCome } from './TensorBoardView';

function jobNameOf(view: ITensorBoardView): string | undefined {
  const job = jobOf(view);
  return job?.display_name ?? job?.name;
}

/** Answers what TensorBoard can't: which folder, when data last came, which job. */
export function TensorBoardToolbar({
  view,
  run,
  trans
}: IViewProps): React.JSX.Element {
  useSignal(view.changed);
  const { board, jobs } = view;
  const job = jobOf(view);
  const jobName = useValue(jobs.changed, () => jobNameOf(view));
  const awaits = useValue(jobs.changed, () => mayCome(view));
  const path = board && (board.paths[0] ?? board.log_dirs[0]);
  return (
    <>
      <Icon of={tensorBoardIcon} size={16} />
      {path && (
        <code title={board.log_dirs.join('\n')}>
          {path}
          {board.log_dirs.length > 1 && ` +${board.log_dirs.length - 1}`}
        </code>
      )}
      {job && (
        <Button
          icon={jobIcon}
          title={trans.__('Open the job')}
          onClick={() => run(CommandIDs.openJob, { id: job.id })}
        >
          {trans.__('Job %1', jobName)}
        </Button>
      )}
      {board && (
        <span className="jp-t9k-TensorBoard-age" role="status">
          <ToolbarState board={board} awaits={awaits} trans={trans} />
        </span>
      )}
      <span className="jp-t9k-TensorBoard-spacer" />
      {board && (
        <>
          {board.has_data && (
            <Button icon={refreshIcon} onClick={() => view.reload()}>
              {trans.__('Reload')}
            </Button>
          )}
          <Button
            title={trans.__('Start the TensorBoard process anew')}
            disabled={view.isOpening}
            onClick={() => void view.restart()}
          >
            {view.isOpening ? trans.__('Starting…') : trans.__('Restart')}
          </Button>
          {board.has_data && (
            <IconButton
              icon={launchIcon}
              label={trans.__('Open in a browser tab')}
              onClick={() => view.openInBrowser()}
            />
          )}
          <IconButton
            icon={stopIcon}
            label={trans.__('Stop this TensorBoard')}
            onClick={() => run(CommandIDs.stopTensorBoard, { id: board.id })}
          />
        </>
      )}
    </>
  );
}

function ToolbarState({
  board,
  awaits,
  trans
}: {
  board: TensorBoard;
  awaits: boolean;
  trans: TranslationBundle;
}): React.JSX.Element {
  if (board.status !== 'running') {
    return <TensorBoardState board={board} trans={trans} />;
  }
  if (!board.has_data) {
    return (
      <>
        {awaits ? trans.__('no event files yet') : trans.__('no event files')}
      </>
    );
  }
  return board.reason ? (
    // With one of several folders.
    <>{board.reason.sentence}</>
  ) : (
    <>
      <TensorBoardState board={board} trans={trans} />
      {countsText(board, trans)}
    </>
  );
}

/** “ · 2 runs, 160 points”, as far as they are counted. */
function countsText(
  { runs, points }: TensorBoard,
  trans: TranslationBundle
): string {
  const counts = [
    ...(runs ? [trans._n('%1 run', '%1 runs', runs)] : []),
    ...(runs && points !== null
      ? [trans._n('%2 point', '%2 points', points, formatCount(points))]
      : [])
  ];
  return counts.length > 0 ? ` · ${counts.join(', ')}` : '';
}
