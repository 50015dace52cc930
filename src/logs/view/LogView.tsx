/** View of a job's log. */
import { TranslationBundle } from '@jupyterlab/translation';
import { moveDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Job, LogLine, Replica } from '../../api/types';
import { formatCount } from '../../common/format';
import { ERROR_PATTERN, IFileLink } from '../model/lines';
import { ILogTexts, LogCopy } from '../model/copy';
import { LogSelection } from '../model/selection';
import { LogModel } from '../model/log';
import { LogSearch } from '../model/search';
import { SHOW_ALL } from '../loading/streams';
import { Banner } from '../../ui/Banner';
import { useSignal, useValue } from '../../common/hooks';
import { Icon } from '../../ui/Icon';
import { IMenuItem } from '../../common/menu';
import { IWithShortcut } from '../../common/shortcut';
import { logClipboard } from '../lines/clipboard';
import { CopyNotice } from './CopyNotice';
import { FirstErrorList } from './FirstErrorList';
import { LogEmpty } from './LogEmpty';
import { LogLines } from '../lines/LogLines';
import { LogMarks } from '../lines/LogMarks';
import { LogSearchField } from './LogSearchField';
import { LogStatus } from './LogStatus';
import { LogToolbar } from './LogToolbar';

/**
 * Size in bytes up to which a log is searched for errors automatically. Larger logs are searched when the
 * user asks for the first error.
 */
const SEARCHED_UNASKED = 64_000_000;

/** Query that finds errors. */
const ERRORS = { pattern: ERROR_PATTERN, regex: true, caseSensitive: true };

/** Appearance of the lines, which is kept over a reload. */
export interface ILogLook {
  /** True to show the time of each line. */
  times: boolean;
  /** True to wrap long lines. */
  wrap: boolean;
}

/** Actions of a shown log that commands of the lab run. */
export interface ILogViewHandle {
  /** Move the focus to the search field. */
  search(): void;
  toggleTimes(): void;
  toggleWrap(): void;
  selectAll(): void;
  /** Copy the selected lines, each with its rank and time. */
  copyWithRanks(): void;
}

/** Props of `LogView`. */
interface ILogViewProps {
  log: LogModel;
  search: LogSearch;
  /** A second search, which finds errors. */
  errors: LogSearch;
  job: Job;
  replicas: readonly Replica[];
  look: ILogLook;
  setLook(look: ILogLook): void;
  trans: TranslationBundle;
  openFile(link: IFileLink): void;
  downloadLine(line: LogLine): void;
  loadUpdates(line: LogLine): Promise<readonly string[]>;
  /** Source of the text of lines that the page doesn't hold. */
  texts: ILogTexts;
  /** Return the items of the download menu. */
  downloads(copy: LogCopy): (IMenuItem | null)[];
  /** Ask the user for a time and go there. */
  goToTime(): void;
  /** Copy the address of what the log shows. */
  copyAddress(): void;
  withShortcut: IWithShortcut;
  /** Receives the handle while the log is shown. */
  handle: React.Ref<ILogViewHandle>;
}

/** Shows a job's log with its toolbar, lines, marks and status line. */
export function LogView(props: ILogViewProps): React.JSX.Element {
  const { log, search, errors, job, look, setLook, trans } = props;
  const { empty } = useLogState(log);
  useSearches(log, search, errors);
  const [selection] = React.useState(() => new LogSelection(log));
  const [copy] = React.useState(
    () => new LogCopy(log, selection, props.texts, logClipboard)
  );
  React.useEffect(() => () => copy.dispose(), [copy]);
  useSignal(selection.changed);
  const [listsErrors, setListsErrors] = React.useState(false);
  const nothing = selection.isEmpty ? trans.__('Nothing is selected') : null;
  const field = React.useRef<HTMLInputElement>(null);
  const view = React.useRef<HTMLDivElement>(null);
  const toggleTimes = (): void => setLook({ ...look, times: !look.times });
  const toggleWrap = (): void => setLook({ ...look, wrap: !look.wrap });
  React.useImperativeHandle(props.handle, () => ({
    search: () => {
      field.current?.focus();
      field.current?.select();
    },
    toggleTimes,
    toggleWrap,
    selectAll: () => selection.selectAll(),
    copyWithRanks: () => void copy.copy(true)
  }));
  const { filter } = log;
  const showAll = (): void => log.setFilter(SHOW_ALL);

  return (
    <div ref={view} className="jp-t9k-LogView">
      <LogToolbar
        log={log}
        trans={trans}
        times={look.times}
        wrap={look.wrap}
        toggleTimes={toggleTimes}
        toggleWrap={toggleWrap}
        withShortcut={props.withShortcut}
        listsErrors={listsErrors}
        toggleErrors={() => setListsErrors(!listsErrors)}
        firstError={() => void goToFirstError(log, errors, job)}
        noError={noError(errors, job, empty, trans)}
        downloads={() => props.downloads(copy)}
        more={() => [
          {
            label: trans.__('Go to Start'),
            execute: () => log.go({ at: 'start' })
          },
          {
            label: trans.__('Go to End'),
            execute: () => log.setFollowing(true)
          },
          { label: trans.__('Go to Time…'), execute: props.goToTime },
          null,
          {
            label: trans.__('Select All'),
            execute: () => selection.selectAll()
          },
          {
            label: trans.__('Copy'),
            disabled: nothing,
            execute: () => void copy.copy(false)
          },
          {
            label: trans.__('Copy with Ranks and Times'),
            disabled: nothing,
            execute: () => void copy.copy(true)
          },
          null,
          {
            label: trans.__('Copy Address of This View'),
            execute: props.copyAddress
          }
        ]}
      >
        <LogSearchField
          search={search}
          trans={trans}
          inputRef={field}
          leave={() =>
            view.current
              ?.querySelector<HTMLElement>('.jp-t9k-LogLines')
              ?.focus()
          }
        />
      </LogToolbar>
      <CopyNotice copy={copy} trans={trans} />
      {listsErrors && (
        <FirstErrorList
          log={log}
          trans={trans}
          close={() => setListsErrors(false)}
        />
      )}
      {log.error && <Banner level="error" title={log.error} />}
      {search.error && <Banner level="error" title={search.error} />}
      <div className="jp-t9k-LogView-body">
        {empty && (
          <LogEmpty log={log} job={job} trans={trans} showAll={showAll} />
        )}
        {log.streams === null && (
          <p className="jp-t9k-LogEmpty">{trans.__('Loading the log…')}</p>
        )}
        <LogLines
          log={log}
          search={search}
          selection={selection}
          copy={copy}
          job={job}
          replicas={props.replicas}
          times={look.times}
          wrap={look.wrap}
          trans={trans}
          openFile={props.openFile}
          downloadLine={props.downloadLine}
          onlyAttempt={attempt => log.setFilter({ ...filter, attempt })}
          loadUpdates={props.loadUpdates}
        />
        <LogMarks log={log} search={search} errors={errors} />
        {!log.following && !empty && <JumpToEnd log={log} trans={trans} />}
      </div>
      <LogStatus log={log} search={search} copy={copy} trans={trans} />
    </div>
  );
}

/** Button that goes to the end of the log, with the number of new lines. */
function JumpToEnd({
  log,
  trans
}: {
  log: LogModel;
  trans: TranslationBundle;
}): React.JSX.Element {
  useSignal(log.changed);
  const { newLines } = log;
  return (
    <button
      type="button"
      className="jp-t9k-JumpToEnd"
      onClick={() => log.setFollowing(true)}
    >
      <Icon of={moveDownIcon} />
      {trans.__('Jump to end')}
      {newLines > 0 && (
        <span className="jp-t9k-secondary">
          {log.window.atEnd
            ? trans._n(
                '%2 new line',
                '%2 new lines',
                newLines,
                formatCount(newLines)
              )
            : trans._n(
                'more than %2 new line',
                'more than %2 new lines',
                newLines,
                formatCount(newLines)
              )}
        </span>
      )}
    </button>
  );
}

/**
 * Render when another part or another state of the log is shown. New lines don't render the whole view; only
 * the rows, counts and marks show them.
 *
 * @returns `empty` is true if the log has no lines.
 */
function useLogState(log: LogModel): { empty: boolean } {
  const { changed } = log;
  useValue(changed, () => log.streams);
  useValue(changed, () => log.chosen);
  useValue(changed, () => log.filter);
  useValue(changed, () => log.connected);
  useValue(changed, () => log.following);
  useValue(changed, () => log.error);
  useValue(changed, () => log.loading && log.window.lines.length === 0);
  const empty = useValue(
    changed,
    () => log.streams !== null && log.window.lines.length === 0
  );
  return { empty };
}

/** Repeat both searches when the shown streams change or the connection is back. */
function useSearches(
  log: LogModel,
  search: LogSearch,
  errors: LogSearch
): void {
  useSignal(errors.changed);
  const chosen = log.chosen.map(stream => stream.id).join();
  const ready = log.connected && chosen !== '';
  const { level } = log.filter;
  React.useEffect(() => {
    if (!ready) {
      return;
    }
    if (search.query.pattern) {
      void search.repeat();
    }
    if (errors.query.pattern) {
      void errors.repeat();
    } else if (log.size <= SEARCHED_UNASKED) {
      void errors.set(ERRORS);
    }
  }, [ready, chosen, level, log, search, errors]);
}

/** Return why the view can't go to the first error; null if it can, or if that isn't known yet. */
function noError(
  errors: LogSearch,
  job: Job,
  empty: boolean,
  trans: TranslationBundle
): string | null {
  if (job.failure?.link) {
    return null;
  }
  if (empty) {
    return trans.__('The log has no lines');
  }
  if (!errors.query.pattern || errors.pending || errors.hits.length > 0) {
    return null;
  }
  if (errors.lost) {
    return trans.__(
      'The log could not be searched: there is no connection to the server'
    );
  }
  if (errors.partial) {
    return trans.__(
      'No traceback was found in the part of the log that was searched'
    );
  }
  return errors.error !== null
    ? trans.__('The log could not be searched: %1', errors.error)
    : trans.__('No traceback was found, nor the last line of one');
}

/**
 * Go to the line that the server reports as the cause of the failure, else to the first line that looks like
 * an error.
 */
async function goToFirstError(
  log: LogModel,
  errors: LogSearch,
  job: Job
): Promise<void> {
  const link = job.failure?.link;
  if (link?.stream != null && link.offset !== null) {
    log.mark(link.stream, link.offset);
    return;
  }
  if (!errors.query.pattern) {
    await errors.set(ERRORS);
  }
  const first = errors.hits[0];
  if (first) {
    log.mark(first.stream, first.offset);
  }
}
