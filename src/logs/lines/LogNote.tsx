import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { hintIcon, warningIcon } from '../../ui/icons';
import { formatClock, formatTime } from '../../common/format';
import { ILogNote } from '../model/notes';
import { sourceLabel } from '../model/streams';
import { Icon } from '../../ui/Icon';

interface ILogNoteProps {
  note: ILogNote;
  /** Whether there are other streams that it could be about. */
  several: boolean;
  trans: TranslationBundle;
}

/** In the place of what is missing of a log, or at its end why nothing comes. */
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

/** A note in words, with its time span and whose it is. */
export function noteText({ note, several, trans }: ILogNoteProps): string {
  const span = spanText(note, trans);
  const said = span === null ? note.sentence : `${span}: ${note.sentence}`;
  return several ? `${sourceLabel(note.stream)} · ${said}` : said;
}

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

/** The time of day, with the day where that is not today. */
function clock(time: number, trans: TranslationBundle): string {
  const today = new Date().toDateString();
  const moment = formatClock(time, true);
  return new Date(time * 1000).toDateString() === today
    ? moment
    : `${formatTime(time, trans)} ${moment}`;
}
