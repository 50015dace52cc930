/** Row of a log line. */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LogLine, LogStream } from '../../api/types';
import { IAnsiStyle, parseAnsi, parseLine, shownColors } from '../model/ansi';
import {
  formatBytes,
  formatCount,
  formatExact,
  formatMilliseconds
} from '../../common/format';
import {
  fileLinks,
  IFileLink,
  IPiece,
  levelOf,
  pieces,
  writtenLinks
} from '../model/lines';
import { gutterLabel } from '../loading/streams';
import { Icon } from '../../ui/Icon';

/** Properties that all rows of a log share. */
export interface ILogRowContext {
  trans: TranslationBundle;
  /** True to show the time of each line. */
  times: boolean;
  /** The search whose hits are highlighted; null for none. */
  expression: RegExp | null;
  /** Return the path of a job's file in the contents API; null if the lab can't open the file. */
  contentsPath(file: string): string | null;
  openFile(link: IFileLink): void;
  downloadLine(line: LogLine): void;
  /** Fold or unfold a line. */
  toggleUpdates(line: LogLine): void;
}

/** Props of `LogRow`. */
interface ILogRowProps {
  context: ILogRowContext;
  line: LogLine;
  stream: LogStream | undefined;
  /** Index of the stream's colour; null for the launcher. */
  series: number | null;
  ordinal: number;
  /** True if the previous line shows the same time, so that this row can leave it out. */
  sameTime: boolean;
  /** `current` for the hit that the user went to, `hit` for other hits of the search. */
  hit: 'hit' | 'current' | null;
  /** True to mark the line, because the user went to it. */
  marked: boolean;
  /** Updates of an unfolded line; null if the line isn't unfolded. */
  updates: readonly string[] | 'loading' | null;
}

/** Size up to which a line whose text is cut can be unfolded, in bytes. */
const LONGEST_SHOWN = 128 * 1024;

/** Return true if a line can be unfolded. */
function unfolds(line: LogLine): boolean {
  return line.updates > 1 || (line.cut && line.size <= LONGEST_SHOWN);
}

/** Shows a log line: rank, time and text. */
export const LogRow = React.memo((props: ILogRowProps): React.JSX.Element => {
  const { context, line, stream, series, ordinal, hit, updates } = props;
  const { trans } = context;
  const shown = React.useMemo(() => parseLine(line), [line]);
  const parts = React.useMemo(
    () =>
      pieces(shown, context.expression, [
        ...fileLinks(shown.text, context.contentsPath),
        ...writtenLinks(shown, context.contentsPath)
      ]),
    [shown, context]
  );
  const level = shown.runs.length ? null : levelOf(shown.text);
  const label = stream ? gutterLabel(stream) : '';
  return (
    <div
      className="jp-t9k-LogRow"
      data-ordinal={ordinal}
      data-level={level}
      data-hit={hit}
      data-marked={props.marked || undefined}
    >
      <span
        className="jp-t9k-LogRow-gutter"
        data-series={series === null ? undefined : series % 4}
        title={stream && sourceTitle(stream, trans)}
      >
        {label}
      </span>
      {context.times && (
        <span
          className="jp-t9k-LogRow-time"
          title={line.time === null ? undefined : formatExact(line.time)}
        >
          {line.time !== null &&
            !props.sameTime &&
            formatMilliseconds(line.time)}
        </span>
      )}
      {unfolds(line) && (
        <button
          type="button"
          className="jp-t9k-LogRow-fold"
          aria-expanded={updates !== null}
          aria-label={
            line.updates > 1
              ? trans.__('All updates of this line')
              : trans.__('The whole line')
          }
          onClick={() => context.toggleUpdates(line)}
        >
          {updates === null ? (
            <Icon of={caretRightIcon} />
          ) : (
            <Icon of={caretDownIcon} />
          )}
        </button>
      )}
      <span className="jp-t9k-LogRow-text">
        {parts.map((part, index) => (
          <Piece key={index} piece={part} openFile={context.openFile} />
        ))}
      </span>
      {line.updates > 1 && (
        <span className="jp-t9k-LogRow-note">
          {trans._n(
            '%2 update in one line',
            '%2 updates in one line',
            line.updates,
            formatCount(line.updates)
          )}
        </span>
      )}
      {line.cut && (
        <span className="jp-t9k-LogRow-note">
          {trans.__('cut here; the whole line has %1', formatBytes(line.size))}{' '}
          <button
            type="button"
            className="jp-t9k-LogRow-link"
            onClick={() => context.downloadLine(line)}
          >
            {trans.__('Download it')}
          </button>
        </span>
      )}
      {updates !== null && (
        <Updates updates={updates} line={line} trans={trans} />
      )}
    </div>
  );
});
LogRow.displayName = 'LogRow';

/** Shows a piece of a line's text. */
function Piece(props: {
  piece: IPiece;
  openFile: (link: IFileLink) => void;
}): React.JSX.Element {
  const { text, style, hit, link } = props.piece;
  let content: React.ReactNode = text;
  if (style) {
    content = <span {...styleProps(style)}>{content}</span>;
  }
  if (link && 'url' in link) {
    content = (
      <a
        className="jp-t9k-LogRow-link"
        href={link.url}
        title={link.url}
        target="_blank"
        rel="noopener noreferrer"
      >
        {content}
      </a>
    );
  } else if (link) {
    content = (
      <button
        type="button"
        className="jp-t9k-LogRow-link"
        onClick={() => props.openFile(link)}
      >
        {content}
      </button>
    );
  }
  return hit ? <mark>{content}</mark> : <>{content}</>;
}

/** Shows the updates of an unfolded line. */
function Updates(props: {
  updates: readonly string[] | 'loading';
  line: LogLine;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { updates, line, trans } = props;
  if (updates === 'loading') {
    return <div className="jp-t9k-LogRow-updates">{trans.__('Loading…')}</div>;
  }
  const missing = line.updates - updates.length;
  return (
    <div className="jp-t9k-LogRow-updates">
      {missing > 0 && (
        <div className="jp-t9k-LogRow-note">
          {trans._n('%1 earlier update', '%1 earlier updates', missing)}
        </div>
      )}
      {updates.map((update, index) => (
        <div key={index}>
          {pieces(parseAnsi(update), null, []).map((piece, place) => (
            <span key={place} {...(piece.style && styleProps(piece.style))}>
              {piece.text}
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}

/**
 * Return the attributes for a style. Theme colours are CSS variables; other colours are values that
 * `parseAnsi` built from numbers.
 */
function styleProps(style: IAnsiStyle): React.HTMLAttributes<HTMLElement> {
  const flags = (
    ['bold', 'dim', 'italic', 'underline', 'strike', 'control'] as const
  ).filter(flag => style[flag]);
  const { foreground, background } = shownColors(style);
  return {
    className: [
      'jp-t9k-ansi',
      ...flags.map(flag => `jp-t9k-ansi-${flag}`)
    ].join(' '),
    style: {
      ...(foreground !== undefined && { color: cssColor(foreground) }),
      ...(background !== undefined && { backgroundColor: cssColor(background) })
    }
  };
}

/** Return the CSS value of a colour. */
function cssColor(color: number | string): string {
  return typeof color === 'number' || color === 'base' || color === 'text'
    ? `var(--jp-t9k-ansi-${color})`
    : color;
}

/** Return the tooltip of the gutter: rank, replica and attempt. */
function sourceTitle(stream: LogStream, trans: TranslationBundle): string {
  if (stream.source === 'launcher') {
    return trans.__(
      'Launcher of %1, attempt %2',
      stream.replica,
      stream.attempt
    );
  }
  if (stream.source === 'container') {
    return trans.__('%1, attempt %2', stream.replica, stream.attempt);
  }
  return stream.rank === null
    ? trans.__(
        'Local rank %1 of %2, attempt %3',
        stream.local_rank,
        stream.replica,
        stream.attempt
      )
    : trans.__(
        'Rank %1, on %2, attempt %3',
        stream.rank,
        stream.replica,
        stream.attempt
      );
}
