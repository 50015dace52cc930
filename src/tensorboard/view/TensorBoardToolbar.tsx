/** Items of the toolbar of a TensorBoard's tab. */

import { launchIcon, refreshIcon, stopIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { TensorBoard } from '../../api/types';
import { jobIcon, tensorBoardIcon } from '../../ui/icons';
import { formatCount, listed } from '../../common/format';
import { CommandIDs } from '../../tokens';
import { Button, IconButton } from '../../ui/Buttons';
import { useSignal, useValue } from '../../common/hooks';
import { Icon } from '../../ui/Icon';
import { TensorBoardModel } from '../model/board';
import { IViewProps, jobOf } from './tensorBoardTab';
import { TensorBoardState } from './TensorBoardState';
import { mayCome } from './TensorBoardView';

/** Toolbar items by their names in the settings; JupyterLab provides the item `spacer`. */
export const TOOLBAR_ITEMS: Readonly<
  Record<string, (props: IViewProps) => React.JSX.Element | null>
> = {
  folder: Folder,
  job: JobButton,
  state: State,
  reload: ReloadButton,
  restart: RestartButton,
  'open-in-browser': BrowserButton,
  stop: StopButton
};

function Folder({ model }: IViewProps): React.JSX.Element {
  useSignal(model.changed);
  const { board } = model;
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
    </>
  );
}

function JobButton({
  model,
  run,
  trans
}: IViewProps): React.JSX.Element | null {
  useSignal(model.changed);
  const job = jobOf(model);
  const name = useValue(model.jobs.changed, () => jobNameOf(model));
  return job === undefined ? null : (
    <Button
      icon={jobIcon}
      title={trans.__('Open the job')}
      onClick={() => run(CommandIDs.openJob, { id: job.id })}
    >
      {trans.__('Job %1', name)}
    </Button>
  );
}

function jobNameOf(model: TensorBoardModel): string | undefined {
  const job = jobOf(model);
  return job?.display_name ?? job?.name;
}

function State({ model, trans }: IViewProps): React.JSX.Element | null {
  useSignal(model.changed);
  const awaits = useValue(model.jobs.changed, () => mayCome(model));
  return (
    model.board && (
      <span className="jp-t9k-TensorBoard-age" role="status">
        <ToolbarState board={model.board} awaits={awaits} trans={trans} />
      </span>
    )
  );
}

function ReloadButton({
  model,
  reload,
  trans
}: IViewProps): React.JSX.Element | null {
  useSignal(model.changed);
  return model.board?.has_data ? (
    <Button icon={refreshIcon} onClick={reload}>
      {trans.__('Reload')}
    </Button>
  ) : null;
}

function RestartButton({ model, trans }: IViewProps): React.JSX.Element | null {
  useSignal(model.changed);
  return (
    model.board && (
      <Button
        title={trans.__('Restart the TensorBoard process')}
        disabled={model.isOpening}
        onClick={() => void model.restart()}
      >
        {model.isOpening
          ? trans.__('Starting…')
          : trans._p('button', 'Restart')}
      </Button>
    )
  );
}

function BrowserButton({ model, trans }: IViewProps): React.JSX.Element | null {
  useSignal(model.changed);
  return model.board?.has_data ? (
    <IconButton
      icon={launchIcon}
      label={trans.__('Open in a browser tab')}
      onClick={() => model.openInBrowser()}
    />
  ) : null;
}

function StopButton({
  model,
  run,
  trans
}: IViewProps): React.JSX.Element | null {
  useSignal(model.changed);
  const { board } = model;
  return (
    board && (
      <IconButton
        icon={stopIcon}
        label={trans.__('Stop this TensorBoard')}
        onClick={() => run(CommandIDs.stopTensorBoard, { id: board.id })}
      />
    )
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
    // The reason concerns one of several folders.
    <>{board.reason.sentence}</>
  ) : (
    <>
      <TensorBoardState board={board} trans={trans} />
      {countsText(board, trans)}
    </>
  );
}

/** Return “ · 2 runs, 160 points”; unknown counts are omitted. */
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
  return counts.length > 0 ? ` · ${listed(counts)}` : '';
}
