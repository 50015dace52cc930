/** Address of a view of a log: filter, search and line. */
import { ILogFilter, LogChoice, SHOW_ALL, sourceKey } from '../loading/streams';
import { LogModel } from './log';
import { LogSearch } from './search';

/** Longest list of ranks in an address, in characters. Proxies reject longer addresses. */
const LONGEST_LIST = 4000;

/**
 * Return the parameter `log` of an address for what a log shows.
 *
 * The ranks are listed as shown ones or as hidden ones, whichever are fewer.
 */
export function logAddress(log: LogModel, search: LogSearch): string {
  const { filter } = log;
  const { query } = search;
  const parameters = new URLSearchParams();
  const put = (name: string, value: string | null): void => {
    if (value) {
      parameters.set(name, value);
    }
  };
  put('attempt', filter.attempt === null ? null : String(filter.attempt));
  put('level', filter.level ?? null);
  put('launcher', filter.launcher ? '1' : null);
  put('pods', filter.container ? '1' : null);
  const hidden = new Set(filter.hidden);
  const all = new Set((log.streams ?? []).map(sourceKey));
  const shown = [...all].filter(key => !hidden.has(key));
  const [name, keys] =
    shown.length < hidden.size ? ['only', shown] : ['hidden', [...hidden]];
  const list = keys.join();
  put(name, list.length <= LONGEST_LIST ? list : null);
  put('search', query.pattern);
  put('regex', query.pattern && query.regex ? '1' : null);
  put('case', query.pattern && query.caseSensitive ? '1' : null);
  return parameters.toString();
}

/** Return the line to which the address of a view leads; null if the view follows the end of the log. */
export function addressedLine(
  log: LogModel
): { stream: string; offset: number } | null {
  const { marked } = log;
  // A marked line that the filter hides would show its rank again.
  if (marked && log.chosen.some(({ id }) => id === marked.stream)) {
    return marked;
  }
  const top = log.following ? null : log.window.line(log.view?.first ?? 0);
  return top ? { stream: top.stream, offset: top.offset } : null;
}

/**
 * Show in a log what the parameter `log` of an address describes. Unknown and invalid parts are ignored.
 *
 * @param text - The parameter.
 * @param log - The log. Its streams must be known.
 * @param search - The search in the log.
 */
export function showAddress(
  text: string,
  log: LogModel,
  search: LogSearch
): void {
  const parameters = new URLSearchParams(text);
  const list = (name: string): string[] =>
    (parameters.get(name) ?? '').split(',').filter(Boolean);
  const attempt = Number(parameters.get('attempt'));
  const level = parameters.get('level');
  const only = new Set(list('only'));
  const all = new Set((log.streams ?? []).map(sourceKey));
  const filter: ILogFilter = {
    ...SHOW_ALL,
    attempt: Number.isInteger(attempt) && attempt > 0 ? attempt : null,
    level: level === 'error' || level === 'warning' ? level : null,
    launcher: parameters.has('launcher'),
    container: parameters.has('pods'),
    hidden: only.size
      ? [...all].filter(key => !only.has(key))
      : list('hidden').filter(key => all.has(key))
  };
  const choice = new LogChoice(filter);
  choice.streams = log.streams;
  // The job's streams may be others than those of the address.
  log.setFilter(choice.chosen.length > 0 ? filter : SHOW_ALL);
  const pattern = parameters.get('search') ?? '';
  if (pattern) {
    void search.set({
      pattern: pattern.slice(0, 1000),
      regex: parameters.has('regex'),
      caseSensitive: parameters.has('case')
    });
  }
}
