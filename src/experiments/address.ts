/** Addresses of the pages of experiments, which can be copied and opened in a browser. */
import { IPageAddress } from '../shell/pageTabs';

/** Kinds of pages. */
const PAGES = ['runs', 'run', 'comparison', 'artifact'];

/** Parameter of the address: the kind of page, then the ids, separated by colons. */
const PARAMETER = 't9kjob-experiments';

/** Matches addresses of pages. */
export const ADDRESS = /[?&]t9kjob-experiments=/;

/** Return the search part of a page's address: `?t9kjob-experiments=run:1f3a…`. */
export function addressSearch({ page, ids }: IPageAddress): string {
  return `?${PARAMETER}=${[page, ...ids].map(encodeURIComponent).join(':')}`;
}

/** Return the page of an address; null if the address names none. */
export function pageOfAddress(search: string): IPageAddress | null {
  const value = new URLSearchParams(search).get(PARAMETER);
  const [page, ...ids] = (value ?? '').split(':');
  return PAGES.includes(page) && ids.every(id => /^[\w-]{1,64}$/.test(id))
    ? { page, ids }
    : null;
}
