import { TranslationBundle } from '@jupyterlab/translation';
import { moveDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Job, LogLine, Replica } from '../../api/types';
import { formatCount } from '../../model/format';
import { ERROR_PATTERN, IFileLink } from '../../model/logLines';
import { LogModel } from '../../model/logs';
import { LogSearch } from '../../model/logSearch';
import { SHOW_ALL } from '../../model/logStreams';
import { Banner } from '../Banner';
import { useSignal } from '../hooks';
import { Icon } from '../Icon';
import { IMenuItem } from '../menu';
import { LogEmpty } from './LogEmpty';
import { LogLines } from './LogLines';
import { LogMarks } from './LogMarks';
import { LogSearchField } from './LogSearchField';
import { LogStatus } from './LogStatus';
import { LogToolbar } from './LogToolbar';

/** Larger logs are not searched for errors before somebody asks. */
const SEARCHED_UNASKED = 64_000_000;

const ERRORS = { pattern: ERROR_PATTERN, regex: true, caseSensitive: true };

/** How lines are drawn; remembered. */
export interface ILogLook {
  times: boolean;
  wrap: boolean;
}

interface ILogViewProps {
  log: LogModel;
  search: LogSearch;
  /** A second search, for the lines of errors. */
  errors: LogSearch;
  job: Job;
  replicas: readonly Replica[];
  look: ILogLook;
  setLook(look: ILogLook): void;
  trans: TranslationBundle;
  openFile(link: IFileLink): void;
  downloadLine(line: LogLine): void;
  loadUpdates(line: LogLine): Promise<readonly string[]>;
  downloads(): (IMenuItem | null)[];
  goToTime(): void;
}

/** A job's log: what is shown of it, its lines, and where in it one is. */
export function LogView(props: ILogViewProps): React.JSX.Element {
  const { log, search, errors, job, look, setLook, trans } = props;
  useSignal(log.changed);
  useSearches(log, search, errors);
  const field = React.useRef<HTMLInputElement>(null);
  const view = React.useRef<HTMLDivElement>(null);
  const toggleTimes = (): void => setLook({ ...look, times: !look.times });
  const toggleWrap = (): void => setLook({ ...look, wrap: !look.wrap });
  const { filter } = log;
  const showAll = (): void => log.setFilter(SHOW_ALL);
  const empty = log.streams !== null && log.window.lines.length === 0;

  return (
    <div
      ref={view}
      className="jp-t9k-LogView"
      onKeyDown={event => {
        const command = event.ctrlKey || event.metaKey;
        const typing =
          event.target instanceof HTMLInputElement ||
          event.target instanceof HTMLSelectElement;
        const key = event.key.toLowerCase();
        if (command && !event.shiftKey && key === 'f') {
          field.current?.focus();
          field.current?.select();
        } else if (command || event.altKey || typing) {
          return;
        } else if (key === 't') {
          toggleTimes();
        } else if (key === 'w') {
          toggleWrap();
        } else {
          return;
        }
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <LogToolbar
        log={log}
        trans={trans}
        times={look.times}
        wrap={look.wrap}
        toggleTimes={toggleTimes}
        toggleWrap={toggleWrap}
        firstError={() => void goToFirstError(log, errors, job)}
        noError={
          !job.failure?.link &&
          (empty ||
            (errors.query.pattern !== '' &&
              !errors.pending &&
              errors.hits.length === 0))
        }
        downloads={props.downloads}
        more={() => [
          {
            label: trans.__('Go to Start'),
            execute: () => log.go({ at: 'start' })
          },
          {
            label: trans.__('Go to End'),
            execute: () => log.setFollowing(true)
          },
          { label: trans.__('Go to Time…'), execute: props.goToTime }
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
      <LogStatus log={log} search={search} trans={trans} />
    </div>
  );
}

function JumpToEnd({
  log,
  trans
}: {
  log: LogModel;
  trans: TranslationBundle;
}): React.JSX.Element {
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

/** Keep both searches up to the streams that are looked at. */
function useSearches(
  log: LogModel,
  search: LogSearch,
  errors: LogSearch
): void {
  useSignal(errors.changed);
  const chosen = log.chosen.map(stream => stream.id).join();
  const ready = log.connected && chosen !== '';
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
  }, [ready, chosen, log, search, errors]);
}

/** The line that the server found to be the cause, else the first that looks like an error. */
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
