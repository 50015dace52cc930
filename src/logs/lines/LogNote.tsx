/** Note between two lines of a log. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { hintIcon, warningIcon } from '../../ui/icons';
import { formatClock, formatTime } from '../../common/format';
import { ILogNote } from '../model/notes';
import { sourceLabel } from '../loading/streams';
import { Icon } from '../../ui/Icon';

/** Props of `LogNote`. */
interface ILogNoteProps {
  note: ILogNote;
  /** True if the log shows several streams, so that the note must name its stream. */
  several: boolean;
  trans: TranslationBundle;
}

/** Shows that a part of a log is missing, or why a stream has no lines yet. */
export function LogNote(props: ILogNoteProps): React.JSX.Element {
  const { note } = props;
  const icon = note.kind === 'missing' ? warningIcon : hintIcon;
  const text = noteText(props);
  return (
    <div
      className="jp-t9k-LogDivider"
      role="separator"
      data-kind={note.kind}
      aria-label={text}
    >
      <Icon of={icon} size={14} />
      <span className="jp-t9k-LogDivider-text" title={text}>
        {text}
      </span>
    </div>
  );
}

/** Return a note's text with its time span and, if needed, its stream. */
export function noteText({ note, several, trans }: ILogNoteProps): string {
  const span = spanText(note, trans);
  const said = span === null ? note.sentence : `${span}: ${note.sentence}`;
  return several ? `${sourceLabel(note.stream)} · ${said}` : said;
}

/** Return the time span of a note; null if unknown. */
function spanText(
  { since, until }: ILogNote,
  trans: TranslationBundle
): string | null {
  if (since !== null && until !== null) {
    return trans.__('%1 – %2', clock(since, trans), clock(until, trans));
  }
  return until !== null
    ? trans.__('until %1', clock(until, trans))
    : since !== null
      ? trans.__('from %1', clock(since, trans))
      : null;
}

/** Return the time of day, with the date if it isn't today. */
function clock(time: number, trans: TranslationBundle): string {
  const today = new Date().toDateString();
  const moment = formatClock(time, true);
  return new Date(time * 1000).toDateString() === today
    ? moment
    : `${formatTime(time, trans)} ${moment}`;
}
