/** Status line of a log. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatBytes, formatCount } from '../../common/format';
import { LogCopy, LogCopyState } from '../model/copy';
import { LogModel } from '../model/log';
import { LogSearch } from '../model/search';
import { useSignal, useValue } from '../../common/hooks';
import { countText } from './LogSearchField';

/** Shortest time between two announcements to screen readers, in ms. */
const QUIET = 10_000;

/** Props of `LogStatus`. */
interface ILogStatusProps {
  log: LogModel;
  search: LogSearch;
  copy: LogCopy;
  trans: TranslationBundle;
}

/** Shows whether the log is live, its size, the lines in view and whether the view follows the end. */
export function LogStatus({
  log,
  search,
  copy,
  trans
}: ILogStatusProps): React.JSX.Element {
  useSignal(log.changed);
  useSignal(search.changed);
  useSignal(copy.changed);
  const copied = copyText(copy.state, trans);
  const state = stateOf(log);
  const { linesBefore, atEnd, lines, first } = log.window;
  const view = useValue(log.viewChanged, () => log.view);
  const total =
    linesBefore !== null && atEnd ? linesBefore + lines.length : null;
  return (
    <div className="jp-t9k-LogStatus">
      <span className="jp-t9k-LogStatus-state" data-state={state}>
        {stateText(state, trans)}
      </span>
      <span>
        {total === null
          ? formatBytes(log.size)
          : log.filter.level
            ? trans._n(
                '%2 line of %3',
                '%2 lines of %3',
                total,
                formatCount(total),
                formatBytes(log.size)
              )
            : trans._n(
                '%2 line, %3',
                '%2 lines, %3',
                total,
                formatCount(total),
                formatBytes(log.size)
              )}
      </span>
      {view && linesBefore !== null && (
        <span>
          {trans.__(
            'lines %1 – %2',
            formatCount(linesBefore + view.first - first + 1),
            formatCount(linesBefore + view.last - first + 1)
          )}
        </span>
      )}
      <span className="jp-t9k-LogStatus-follow">
        {log.following
          ? state === 'complete'
            ? trans.__('At the end')
            : trans.__('Following the end')
          : state === 'complete'
            ? trans.__('No more lines will come')
            : trans.__('Not following; the view stays where it is')}
      </span>
      {copied !== null && <span>{copied}</span>}
      <span className="jp-t9k-visuallyHidden" role="status">
        {copied}
      </span>
      <Spoken log={log} search={search} trans={trans} />
    </div>
  );
}

/** Return a text about the last copy; null if there is nothing to report. */
function copyText(
  state: LogCopyState,
  trans: TranslationBundle
): string | null {
  switch (state.kind) {
    case 'reading':
      return trans.__('Reading the lines to copy…');
    case 'copied':
      return trans._n(
        'Copied %2 line, %3',
        'Copied %2 lines, %3',
        state.lines,
        formatCount(state.lines),
        formatBytes(state.size)
      );
    default:
      return null;
  }
}

/**
 * State of a log. `elsewhere`: an earlier part is shown, so new lines don't arrive. `lost`: there is no
 * connection.
 */
type LogState = 'live' | 'complete' | 'elsewhere' | 'lost';

function stateOf(log: LogModel): LogState {
  if (!log.connected) {
    return 'lost';
  }
  if (log.chosen.length > 0 && log.chosen.every(stream => stream.complete)) {
    return 'complete';
  }
  return log.live || log.following || log.window.lines.length === 0
    ? 'live'
    : 'elsewhere';
}

function stateText(state: LogState, trans: TranslationBundle): string {
  switch (state) {
    case 'live':
      return trans.__('Live');
    case 'complete':
      return trans._p('log', 'Complete');
    case 'elsewhere':
      return trans.__('An earlier part');
    case 'lost':
      return trans.__('Not connected; new lines arrive after reconnecting');
  }
}

/** Announces hits and new lines to screen readers, at most every 10 seconds. */
function Spoken({
  log,
  search,
  trans
}: Omit<ILogStatusProps, 'copy'>): React.JSX.Element {
  const hits = countText(search, trans);
  const text = search.query.pattern
    ? trans.__('Hits: %1', hits)
    : log.newLines > 0
      ? trans._n('%1 new line', '%1 new lines', log.newLines)
      : '';
  const [spoken, setSpoken] = React.useState('');
  const spokenAt = React.useRef(-Infinity);
  React.useEffect(() => {
    if (search.pending) {
      return undefined; // An announcement now would delay the announcement of the answer.
    }
    const wait = Math.max(0, spokenAt.current + QUIET - performance.now());
    const timer = window.setTimeout(() => {
      spokenAt.current = performance.now();
      setSpoken(text);
    }, wait);
    return () => window.clearTimeout(timer);
  }, [text, search.pending]);
  return (
    <span className="jp-t9k-visuallyHidden" role="status">
      {spoken}
    </span>
  );
}
