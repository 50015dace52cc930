/** Toolbar of a log. */
import { TranslationBundle } from '@jupyterlab/translation';
import { caretDownEmptyIcon, downloadIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { LogStream } from '../../api/types';
import { errorIcon } from '../../ui/icons';
import { clockIcon, wrapIcon } from '../../ui/pageIcons';
import { LogModel } from '../model/log';
import { logAttempts, logSources, repeatedByRanks } from '../loading/streams';
import { IconButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { MoreButton } from '../../ui/MenuButton';
import { IMenuItem, openMenu } from '../../common/menu';
import { IWithShortcut, useShortcuts } from '../../common/shortcut';
import { CommandIDs } from '../../tokens';
import { RankFilter } from './RankFilter';

const NONE: readonly LogStream[] = [];

/** Props of `LogToolbar`. */
interface ILogToolbarProps {
  log: LogModel;
  trans: TranslationBundle;
  /** True if times are shown. */
  times: boolean;
  /** True if long lines are wrapped. */
  wrap: boolean;
  toggleTimes(): void;
  toggleWrap(): void;
  withShortcut: IWithShortcut;
  /** True if the list of first errors is shown. */
  listsErrors: boolean;
  /** Show or hide the list of first errors. */
  toggleErrors(): void;
  /** Go to the first error. */
  firstError(): void;
  /** Reason why the button “First error” is disabled; null if it is enabled. */
  noError: string | null;
  /** Return the items of the download menu. */
  downloads(): (IMenuItem | null)[];
  /** Return the items of the menu “More”. */
  more(): (IMenuItem | null)[];
  /** The search field. */
  children: React.ReactNode;
}

/** Shows controls that select the shown streams, the search field, and buttons for actions on the log. */
export function LogToolbar(props: ILogToolbarProps): React.JSX.Element {
  const { log, trans } = props;
  const withShortcut = useShortcuts(props.withShortcut);
  const { filter } = log;
  const streams = log.streams ?? NONE;
  const attempts = React.useMemo(() => logAttempts(streams), [streams]);
  const sources = React.useMemo(() => logSources(streams), [streams]);
  const repeats = React.useMemo(() => repeatedByRanks(streams), [streams]);
  const launcher = React.useMemo(
    () => streams.some(stream => stream.source === 'launcher'),
    [streams]
  );
  return (
    <div
      className="jp-t9k-LogToolbar"
      role="toolbar"
      aria-label={trans.__('Log')}
    >
      {attempts.length > 1 && (
        <select
          aria-label={trans.__('Attempt')}
          value={filter.attempt ?? ''}
          onChange={event => {
            const { value } = event.target;
            const attempt = value === '' ? null : Number(value);
            log.setFilter({ ...filter, attempt });
          }}
        >
          <option value="">{trans.__('All attempts')}</option>
          {attempts.map(attempt => (
            <option key={attempt} value={attempt}>
              {attempt === attempts[attempts.length - 1]
                ? trans.__('Attempt %1, last', attempt)
                : trans.__('Attempt %1', attempt)}
            </option>
          ))}
        </select>
      )}
      <RankFilter
        sources={sources}
        hidden={filter.hidden}
        setHidden={hidden => log.setFilter({ ...filter, hidden })}
        trans={trans}
      />
      <select
        aria-label={trans.__('Levels')}
        value={filter.level ?? ''}
        onChange={event => {
          const { value } = event.target;
          const level = value === 'error' || value === 'warning' ? value : null;
          log.setFilter({ ...filter, level });
        }}
      >
        <option value="">{trans.__('All levels')}</option>
        <option value="warning">{trans.__('Warnings and errors')}</option>
        <option value="error">{trans.__('Errors')}</option>
      </select>
      {repeats.size > 0 && (
        <button
          type="button"
          className="jp-t9k-LogToolbar-toggle"
          aria-pressed={filter.container}
          title={trans.__(
            'Show the pods’ output, including torchrun’s, instead of the ranks’ files'
          )}
          onClick={() =>
            log.setFilter({ ...filter, container: !filter.container })
          }
        >
          {trans.__('Pods')}
        </button>
      )}
      {launcher && (
        <button
          type="button"
          className="jp-t9k-LogToolbar-toggle"
          aria-pressed={filter.launcher}
          title={trans.__('Show the output of the launcher (torchrun)')}
          onClick={() =>
            log.setFilter({ ...filter, launcher: !filter.launcher })
          }
        >
          {trans.__('Launcher')}
        </button>
      )}
      <span className="jp-t9k-LogToolbar-space" />
      {props.children}
      <span className="jp-t9k-LogToolbar-line" />
      <button
        type="button"
        className="jp-t9k-LogToolbar-button"
        aria-disabled={props.noError !== null}
        title={props.noError ?? trans.__('Go to the first error')}
        onClick={() => props.noError === null && props.firstError()}
      >
        <Icon of={errorIcon} size={14} />
        <span>{trans.__('First error')}</span>
      </button>
      {sources.length > 1 && (
        <IconButton
          icon={caretDownEmptyIcon}
          label={trans.__('First error of each rank')}
          aria-expanded={props.listsErrors}
          onClick={props.toggleErrors}
        />
      )}
      <IconButton
        icon={clockIcon}
        label={withShortcut(trans.__('Times'), CommandIDs.toggleLogTimes)}
        aria-pressed={props.times}
        onClick={props.toggleTimes}
      />
      <IconButton
        icon={wrapIcon}
        label={withShortcut(
          trans.__('Wrap long lines'),
          CommandIDs.toggleLogWrap
        )}
        aria-pressed={props.wrap}
        onClick={props.toggleWrap}
      />
      <IconButton
        icon={downloadIcon}
        label={trans.__('Download')}
        aria-haspopup="menu"
        disabled={streams.length === 0}
        onClick={event => openMenu(event.currentTarget, props.downloads())}
      />
      <MoreButton label={trans._p('menu', 'More')} items={() => props.more()} />
    </div>
  );
}
