/** Messages that replace TensorBoard's page. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSummary, TensorBoard } from '../../api/types';
import { tensorBoardIcon } from '../../ui/icons';
import { isActive, stateOf, stateWord } from '../../jobs/phase';
import { jobSentence } from '../../jobs/sentence';
import { CommandIDs } from '../../tokens';
import { Button, LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { useAfter, useSignal } from '../../common/hooks';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { Duration } from '../../ui/Time';
import { NotInstalled } from './NotInstalled';
import { TensorBoardModel } from '../model/board';
import { hasEnded, IViewProps, jobOf } from './tensorBoardTab';
import { sentences } from '../../common/format';

/** Return true if event files may still be written: the job is active, or the folder belongs to no job. */
export function mayCome(model: TensorBoardModel): boolean {
  const job = jobOf(model);
  const isOfJob = (model.source.jobId ?? model.board?.job_id) != null;
  return job ? isActive(job) : !isOfJob;
}

/** The message that replaces TensorBoard's page; null for a start that takes less than 300 ms. */
export function TensorBoardPage({
  model,
  reload,
  run,
  trans
}: IViewProps): React.JSX.Element | null {
  useSignal(model.changed);
  useSignal(model.jobs.changed, 250);
  const { board, error, isOpening, readingSince } = model;
  const starting =
    isOpening || readingSince !== null || board?.status === 'starting';
  const slow = useAfter(starting, 300);
  if (starting) {
    return slow ? <Starting model={model} trans={trans} /> : null;
  }
  if (error?.code === 'TensorBoardMissing') {
    return <NotInstalled model={model} error={error} trans={trans} />;
  }
  if (error) {
    return (
      <EmptyState
        icon={tensorBoardIcon}
        title={trans.__('TensorBoard could not be opened')}
        actions={
          <Button onClick={() => void model.open()}>
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
          <Button onClick={() => void model.open()}>
            {trans.__('Start it again')}
          </Button>
        }
      >
        <p>{trans.__('The event files are kept.')}</p>
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
          <Button onClick={() => void model.restart()}>
            {trans._p('button', 'Restart')}
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
  if (board.has_data && model.refusals !== null) {
    return (
      <NotFramed
        model={model}
        reload={reload}
        refusals={model.refusals}
        trans={trans}
      />
    );
  }
  return <NothingWritten model={model} board={board} run={run} trans={trans} />;
}

/**
 * Message for a page that the browser refuses to show in the tab, with the headers that forbid it if they are
 * known.
 */
function NotFramed({
  model,
  reload,
  refusals,
  trans
}: Omit<IViewProps, 'run'> & {
  refusals: readonly string[];
}): React.JSX.Element {
  return (
    <EmptyState
      icon={tensorBoardIcon}
      title={trans.__('The browser does not show TensorBoard in this tab')}
      actions={
        <>
          <Button kind="primary" onClick={() => model.openInBrowser()}>
            {trans.__('Open in a new browser tab')}
          </Button>
          <Button onClick={reload}>{trans.__('Try again')}</Button>
        </>
      }
    >
      {refusals.length > 0 ? (
        <>
          <p>
            {trans.__(
              'The page has a header that forbids showing it inside another page. A proxy in front of JupyterLab may have added the header; its administrator can change that.'
            )}
          </p>
          <pre className="jp-t9k-Verbatim">{refusals.join('\n')}</pre>
        </>
      ) : (
        <p>
          {trans.__(
            'The cause is not known. Possible causes are a browser extension, a lost connection, or a page that embeds JupyterLab.'
          )}
        </p>
      )}
    </EmptyState>
  );
}

/** Message while the process starts or reads the event files. */
function Starting({
  model,
  trans
}: Pick<IViewProps, 'model' | 'trans'>): React.JSX.Element {
  const { board, readingSince } = model;
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

/** Duration of a state, updated every second. */
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

/** An error: the message and the hint, then the system's verbatim message. */
function Refusal(props: {
  message: string;
  hint: string | null;
  verbatim: string | null;
}): React.JSX.Element {
  return (
    <>
      <p>{sentences([props.message, props.hint])}</p>
      {props.verbatim && (
        <pre className="jp-t9k-Verbatim">{props.verbatim}</pre>
      )}
    </>
  );
}

/**
 * Message for folders without event files, with the state of the job. The page opens when the
 * first file is written.
 */
function NothingWritten({
  model,
  board,
  run,
  trans
}: Omit<IViewProps, 'reload'> & { board: TensorBoard }): React.JSX.Element {
  const job = jobOf(model);
  const awaits = mayCome(model);
  return (
    <EmptyState
      icon={tensorBoardIcon}
      title={titleOfNothing(board, !awaits, trans)}
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
        {awaits
          ? trans.__(
              'TensorBoard will open by itself when the first event file arrives in'
            )
          : hasEnded(job)
            ? trans.__('The job has ended, and no event file was found in')
            : trans.__('No event file was found in')}
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
            </LinkButton>
            {' · '}
            {whyNothing(job, trans)}
          </span>
        </p>
      )}
    </EmptyState>
  );
}

function titleOfNothing(
  board: TensorBoard,
  ended: boolean,
  trans: TranslationBundle
): string {
  switch (board.reason?.code) {
    case 'NoFolder':
      return ended
        ? trans.__('The folder does not exist')
        : trans.__('The folder does not exist yet');
    case 'FolderGone':
      return trans.__('The folder has been removed');
    case 'FolderUnreadable':
      return trans.__('The folder can’t be read');
    case 'FolderHangs':
      return trans.__('The folder’s disk does not answer');
    default:
      return ended
        ? trans.__('There are no event files')
        : trans.__('Nothing has been written here yet');
  }
}

function whyNothing(job: JobSummary, trans: TranslationBundle): string {
  const word = stateWord(stateOf(job), trans);
  const sentence = jobSentence(job, trans);
  if (job.phase === 'Running') {
    return trans.__(
      'The job is running: %1. Scripts write event files with a SummaryWriter.',
      sentence
    );
  }
  return hasEnded(job)
    ? trans.__(
        'The job has ended (%1: %2). Scripts write event files with a SummaryWriter.',
        word,
        sentence
      )
    : trans.__('The job is %1: %2', word, sentence);
}
