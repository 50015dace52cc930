import { launchIcon, refreshIcon, stopIcon } from '@jupyterlab/ui-components';
import { URLExt } from '@jupyterlab/coreutils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ISignal } from '@lumino/signaling';
import * as React from 'react';
import { ApiError } from '../../api/client';
import { JobSummary, TensorBoard } from '../../api/types';
import { jobIcon, tensorBoardIcon } from '../../icons';
import { isActive, stateOf, stateWord } from '../../model/phase';
import { jobSentence } from '../../model/sentence';
import { CommandIDs, IJobs } from '../../tokens';
import { Button, IconButton, LinkButton } from '../Buttons';
import { EmptyState } from '../EmptyState';
import { useAfter, useSignal, useValue } from '../hooks';
import { Icon } from '../Icon';
import { PhaseIcon } from '../PhaseIcon';
import { Duration } from '../Time';
import { RunCommand } from '../commands';
import { TensorBoardState } from '../sidebar/TensorBoards';
import { NotInstalled } from './NotInstalled';

/** A TensorBoard's tab, as its parts see it. */
export interface ITensorBoardView {
  readonly jobs: IJobs;
  readonly source: { jobId?: string; paths?: string[] };
  readonly board: TensorBoard | null;
  readonly error: ApiError | null;
  readonly isOpening: boolean;
  readonly readingSince: number | null;
  readonly changed: ISignal<ITensorBoardView, void>;
  open(): Promise<void>;
  restart(): Promise<void>;
  reload(): void;
}

interface IViewProps {
  view: ITensorBoardView;
  run: RunCommand;
  trans: TranslationBundle;
}

/** The job that writes what a tab shows, if it is known. */
function jobOf(view: ITensorBoardView): JobSummary | undefined {
  const id = view.source.jobId ?? view.board?.job_id;
  return id ? view.jobs.get(id) : undefined;
}

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
          <ToolbarState board={board} trans={trans} />
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
              onClick={() =>
                window.open(
                  URLExt.join(jobs.api.serverSettings.baseUrl, board.url),
                  '_blank',
                  'noopener'
                )
              }
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
  trans
}: {
  board: TensorBoard;
  trans: TranslationBundle;
}): React.JSX.Element {
  if (board.status !== 'running') {
    return <TensorBoardState board={board} trans={trans} />;
  }
  if (!board.has_data) {
    return <>{trans.__('no event files yet')}</>;
  }
  return board.reason ? (
    // With one of several folders.
    <>{board.reason.sentence}</>
  ) : (
    <TensorBoardState board={board} trans={trans} />
  );
}

/** What is said while there is no TensorBoard to show. */
export function TensorBoardPage({
  view,
  run,
  trans
}: IViewProps): React.JSX.Element | null {
  useSignal(view.changed);
  useSignal(view.jobs.changed, 250);
  const { board, error, isOpening, readingSince } = view;
  const starting =
    isOpening || readingSince !== null || board?.status === 'starting';
  const slow = useAfter(starting, 300);
  if (starting) {
    return slow ? <Starting view={view} trans={trans} /> : null;
  }
  if (error?.reason === 'TensorBoardMissing') {
    return <NotInstalled view={view} error={error} trans={trans} />;
  }
  if (error) {
    return (
      <EmptyState
        icon={tensorBoardIcon}
        title={trans.__('TensorBoard could not be opened')}
        actions={
          <Button onClick={() => void view.open()}>
            {trans.__('Try again')}
          </Button>
        }
      >
        <Refusal {...error} message={error.message} />
      </EmptyState>
    );
  }
  if (!board) {
    return (
      <EmptyState
        icon={tensorBoardIcon}
        title={trans.__('This TensorBoard was stopped')}
        actions={
          <Button onClick={() => void view.open()}>
            {trans.__('Start it again')}
          </Button>
        }
      >
        <p>{trans.__('Event files are still where they were written.')}</p>
      </EmptyState>
    );
  }
  if (board.status === 'failed' || board.status === 'unresponsive') {
    const { reason, since } = board;
    const hangs = board.status === 'unresponsive';
    return (
      <EmptyState
        icon={tensorBoardIcon}
        title={
          hangs
            ? trans.__('TensorBoard does not answer')
            : trans.__('TensorBoard has failed')
        }
        actions={
          <Button onClick={() => void view.restart()}>
            {trans.__('Restart')}
          </Button>
        }
      >
        {reason && (
          <Refusal
            message={reason.sentence}
            hint={reason.hint}
            verbatim={reason.verbatim}
          />
        )}
        {hangs && since !== null && (
          <SoFar
            label={trans.__('Time without an answer')}
            since={since}
            trans={trans}
          />
        )}
      </EmptyState>
    );
  }
  return <NothingWritten view={view} board={board} run={run} trans={trans} />;
}

function Starting({ view, trans }: Omit<IViewProps, 'run'>): React.JSX.Element {
  const { board, readingSince } = view;
  const isReading = readingSince !== null;
  const since = readingSince ?? board?.since ?? null;
  const says = isReading
    ? trans.__('The first curves appear as soon as they have been read.')
    : (board?.reason?.sentence ?? trans.__('This takes a few seconds.'));
  return (
    <EmptyState
      icon={tensorBoardIcon}
      title={
        isReading
          ? trans.__('TensorBoard is reading the event files')
          : trans.__('TensorBoard is starting')
      }
    >
      <p role="status">{says}</p>
      {since !== null && (
        <SoFar label={trans.__('Time so far')} since={since} trans={trans} />
      )}
    </EmptyState>
  );
}

/** For how long something has been so, ticking. */
function SoFar(props: {
  label: string;
  since: number;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <p className="jp-t9k-caption">
      {props.label}:{' '}
      <Duration start={props.since} end={null} trans={props.trans} />
    </p>
  );
}

/** Our sentence, what to do, then the system's own words. */
function Refusal(props: {
  message: string;
  hint: string | null;
  verbatim: string | null;
}): React.JSX.Element {
  return (
    <>
      <p>
        {props.message} {props.hint}
      </p>
      {props.verbatim && (
        <pre className="jp-t9k-Verbatim">{props.verbatim}</pre>
      )}
    </>
  );
}

/** Why there is nothing yet: the job's own state explains it. Opens by itself. */
function NothingWritten({
  view,
  board,
  run,
  trans
}: IViewProps & { board: TensorBoard }): React.JSX.Element {
  const job = jobOf(view);
  return (
    <EmptyState
      icon={tensorBoardIcon}
      title={titleOfNothing(board, trans)}
      actions={
        <>
          {job && (
            <Button onClick={() => run(CommandIDs.openJob, { id: job.id })}>
              {trans.__('Open the job')}
            </Button>
          )}
          <Button onClick={() => run(CommandIDs.chooseLogDirectory)}>
            {trans.__('Choose another folder…')}
          </Button>
        </>
      }
    >
      <p>
        {trans.__(
          'TensorBoard will open by itself when the first event file arrives in'
        )}
        {board.log_dirs.map(directory => (
          <code key={directory}>{directory}</code>
        ))}
      </p>
      {board.reason?.hint && (
        <Refusal
          message={board.reason.sentence}
          hint={board.reason.hint}
          verbatim={board.reason.verbatim}
        />
      )}
      {job && (
        <p className="jp-t9k-TensorBoard-why">
          <PhaseIcon state={stateOf(job)} />
          <span>
            <LinkButton onClick={() => run(CommandIDs.openJob, { id: job.id })}>
              {job.display_name ?? job.name}
            </LinkButton>{' '}
            {whyNothing(job, trans)}
          </span>
        </p>
      )}
    </EmptyState>
  );
}

function titleOfNothing(board: TensorBoard, trans: TranslationBundle): string {
  switch (board.reason?.code) {
    case 'NoFolder':
      return trans.__('The folder does not exist yet');
    case 'FolderGone':
      return trans.__('The folder has been removed');
    case 'FolderUnreadable':
      return trans.__('The folder can’t be read');
    case 'FolderHangs':
      return trans.__('The folder’s disk does not answer');
    default:
      return trans.__('Nothing has been written here yet');
  }
}

function whyNothing(job: JobSummary, trans: TranslationBundle): string {
  const word = stateWord(stateOf(job), trans);
  const sentence = jobSentence(job, trans);
  if (job.phase === 'Running') {
    return trans.__(
      'is running: %1. A script writes events with a SummaryWriter.',
      sentence
    );
  }
  return isActive(job)
    ? trans.__('is %1: %2', word, sentence)
    : trans.__(
        'has ended (%1: %2) and has written no events. A script writes them with a SummaryWriter.',
        word,
        sentence
      );
}
