/** Search field of a log. */
import { TranslationBundle } from '@jupyterlab/translation';
import {
  caretDownEmptyThinIcon,
  caretUpEmptyThinIcon,
  caseSensitiveIcon,
  regexIcon,
  searchIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { formatCount } from '../../common/format';
import { ILogQuery, LogSearch } from '../model/search';
import { IconButton } from '../../ui/Buttons';
import { useSignal } from '../../common/hooks';
import { Icon } from '../../ui/Icon';

/** Time without a key press after which the search starts, in ms. */
const PAUSE = 250;

/** Props of `LogSearchField`. */
interface ILogSearchFieldProps {
  search: LogSearch;
  trans: TranslationBundle;
  inputRef: React.RefObject<HTMLInputElement>;
  /** Called for the Escape key in an empty field. */
  leave(): void;
}

/** Shows the search field, the number of hits, and buttons that go to the next and previous hit. */
export function LogSearchField({
  search,
  trans,
  inputRef,
  leave
}: ILogSearchFieldProps): React.JSX.Element {
  useSignal(search.changed);
  const [query, setQuery] = React.useState<ILogQuery>(search.query);
  // The query also changes when an address is opened.
  const known = React.useRef(search.query);
  if (known.current !== search.query) {
    known.current = search.query;
    setQuery(search.query);
  }
  const timer = React.useRef(0);
  React.useEffect(() => () => window.clearTimeout(timer.current), []);

  const find = async (wanted: ILogQuery): Promise<void> => {
    window.clearTimeout(timer.current);
    known.current = wanted;
    await search.set(wanted);
    if (search.query === wanted && wanted.pattern) {
      search.next();
    }
  };
  const change = (changes: Partial<ILogQuery>, pause: number): void => {
    const wanted = { ...query, ...changes };
    setQuery(wanted);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void find(wanted), pause);
  };
  const step = (back: boolean): void => {
    if (query !== search.query || search.error || search.lost) {
      void find(query);
    } else if (back) {
      search.previous();
    } else {
      search.next();
    }
  };
  const none = search.hits.length === 0;
  return (
    <div className="jp-t9k-LogSearch">
      <div className="jp-t9k-LogSearch-field">
        <Icon of={searchIcon} />
        <input
          ref={inputRef}
          type="search"
          value={query.pattern}
          placeholder={trans.__('Search the whole log')}
          aria-label={trans.__('Search the whole log')}
          aria-invalid={search.error !== null}
          spellCheck={false}
          onChange={event => change({ pattern: event.target.value }, PAUSE)}
          onKeyDown={event => {
            if (event.key === 'Enter') {
              step(event.shiftKey);
            } else if (event.key === 'Escape' && query.pattern) {
              change({ pattern: '' }, 0);
            } else if (event.key === 'Escape') {
              leave();
            } else {
              return;
            }
            event.preventDefault();
            event.stopPropagation();
          }}
        />
        <span
          className="jp-t9k-LogSearch-count"
          title={
            search.lost
              ? trans.__(
                  'The log could not be searched: there is no connection to the server. It is searched when the connection is back.'
                )
              : (search.error ?? '')
          }
        >
          {countText(search, trans)}
        </span>
        <IconButton
          icon={caseSensitiveIcon}
          label={trans.__('Match case')}
          aria-pressed={query.caseSensitive}
          onClick={() => change({ caseSensitive: !query.caseSensitive }, 0)}
        />
        <IconButton
          icon={regexIcon}
          label={trans.__('Regular expression')}
          aria-pressed={query.regex}
          onClick={() => change({ regex: !query.regex }, 0)}
        />
      </div>
      <IconButton
        icon={caretUpEmptyThinIcon}
        label={trans.__('Previous hit')}
        disabled={none}
        onClick={() => step(true)}
      />
      <IconButton
        icon={caretDownEmptyThinIcon}
        label={trans.__('Next hit')}
        disabled={none}
        onClick={() => step(false)}
      />
    </div>
  );
}

/** Return the number of hits, such as “2 of 5”, “none” or “1 of 1 000+”, or why it is unknown. */
export function countText(search: LogSearch, trans: TranslationBundle): string {
  const { hits, current, complete, query } = search;
  if (!query.pattern) {
    return '';
  }
  if (search.pending) {
    return trans.__('searching…');
  }
  if (search.lost) {
    return trans.__('not searched');
  }
  if (hits.length === 0) {
    return search.partial
      ? trans.__('none so far')
      : search.error !== null
        ? trans.__('not possible')
        : trans.__('none');
  }
  const total = formatCount(hits.length) + (complete ? '' : '+');
  return current === null
    ? total
    : trans.__('%1 of %2', formatCount(current + 1), total);
}
