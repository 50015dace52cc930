/** Message in place of a log's lines. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job } from '../../api/types';
import { notesOf } from '../model/notes';
import { LogModel } from '../model/log';
import { LinkButton } from '../../ui/Buttons';
import { noteText } from '../lines/LogNote';

/** Maximum number of notes. Further notes are only counted. */
const MOST_NOTES = 8;

/** Props of `LogEmpty`. */
interface ILogEmptyProps {
  log: LogModel;
  job: Job;
  trans: TranslationBundle;
  /** Show all streams. */
  showAll(): void;
}

/** Shows why the log has no lines, and buttons that show hidden lines. */
export function LogEmpty(props: ILogEmptyProps): React.JSX.Element {
  const { log, job, trans } = props;
  const streams = log.streams ?? [];
  const launcher = streams.some(
    stream => stream.source === 'launcher' && stream.size > 0
  );
  const hidden = streams.some(
    stream =>
      stream.source !== 'launcher' &&
      stream.size > 0 &&
      !log.chosen.some(chosen => chosen.id === stream.id)
  );
  const notes = log.chosen.flatMap(notesOf);
  if (log.loading && log.chosen.length > 0) {
    return (
      <p className="jp-t9k-LogEmpty">
        {log.filter.level
          ? trans.__('Searching the log…')
          : trans.__('Loading the log…')}
      </p>
    );
  }
  if (log.filter.level && log.chosen.some(stream => stream.size > 0)) {
    return (
      <div className="jp-t9k-LogEmpty">
        <p>
          {log.filter.level === 'error'
            ? trans.__('The shown output has no errors.')
            : trans.__('The shown output has no warnings and no errors.')}
        </p>
        <LinkButton
          onClick={() => log.setFilter({ ...log.filter, level: null })}
        >
          {trans.__('Show all levels')}
        </LinkButton>
      </div>
    );
  }
  return (
    <div className="jp-t9k-LogEmpty">
      {!hidden && notes.length > 0 && (
        <ul className="jp-t9k-LogEmpty-notes">
          {notes.slice(0, MOST_NOTES).map((note, index) => (
            <li key={index} data-kind={note.kind}>
              {noteText({ note, several: streams.length > 1, trans })}
            </li>
          ))}
          {notes.length > MOST_NOTES && (
            <li>{trans.__('and %1 more', notes.length - MOST_NOTES)}</li>
          )}
        </ul>
      )}
      {(hidden || notes.length === 0) && (
        <p>
          {hidden
            ? trans.__('No output matches the filter.')
            : explain(job, trans)}
        </p>
      )}
      {hidden && (
        <LinkButton onClick={props.showAll}>
          {trans.__('Show all ranks and attempts')}
        </LinkButton>
      )}
      {!hidden && launcher && !log.filter.launcher && (
        <LinkButton
          onClick={() => log.setFilter({ ...log.filter, launcher: true })}
        >
          {trans.__('Show the launcher’s output')}
        </LinkButton>
      )}
    </div>
  );
}

/** Return why a job's log is empty, from the job's phase. */
function explain(job: Job, trans: TranslationBundle): string {
  switch (job.phase) {
    case 'Pending':
    case 'Resuming':
      return job.reason
        ? trans.__(
            'No log yet: %1 Lines appear here as they are written.',
            job.reason.sentence
          )
        : trans.__(
            'No log yet: it has not started. Lines appear here as they are written.'
          );
    case 'Running':
      return trans.__(
        'No log yet: its processes run and have written nothing so far. Lines appear here as they are written.'
      );
    case 'Paused':
      return trans.__(
        'No log yet: it is paused and has written nothing so far.'
      );
    default:
      return trans.__('No log: it ended without writing anything.');
  }
}
