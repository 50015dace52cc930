/** Addresses of the pages of experiments, which can be copied and opened in a browser. */
import { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from '../tokens';
import { IExperimentPlace } from './open';

/** Parameter of the address: the kind of page, then the ids, separated by colons. */
const PARAMETER = 't9kjob-experiments';

/** Kinds of pages. */
const PAGES = ['runs', 'run', 'comparison', 'artifact'];

/** Return the search part of a page's address: `?t9kjob-experiments=run:1f3a…`. */
export function addressSearch({ page, ids }: IExperimentPlace): string {
  return `?${PARAMETER}=${[page, ...ids].map(encodeURIComponent).join(':')}`;
}

/** Return the page of an address; null if the address names none. */
export function placeOfAddress(search: string): IExperimentPlace | null {
  const value = new URLSearchParams(search).get(PARAMETER);
  const [page, ...ids] = (value ?? '').split(':');
  return PAGES.includes(page) && ids.every(id => /^[\w-]{1,64}$/.test(id))
    ? { page, ids }
    : null;
}

/** Open the page of an address, and remove the page from the browser's address: a reload restores the layout. */
export function openAddress(commands: CommandRegistry, search: string): void {
  const place = placeOfAddress(search);
  if (place) {
    const url = new URL(location.href);
    url.searchParams.delete(PARAMETER);
    history.replaceState(history.state, '', url);
    void commands.execute(CommandIDs.openExperiments, { ...place });
  }
}
