/** What we know of TensorBoard's own page. */

/** Where the page keeps its settings, which is shared by all TensorBoards of this origin. */
const SETTINGS = '_tb_global_settings';

/**
 * Switch auto-reload on, which is off at first, and close the settings pane, which is open; a user's own choices stay.
 *
 * @returns Whether the page reloads by itself, every 30 s at best.
 */
export function preferSettings(storage: Storage): boolean {
  const preferred = { autoReload: true, timeSeriesSettingsPaneOpened: false };
  let settings: Record<string, unknown> = {};
  try {
    settings = { ...JSON.parse(storage.getItem(SETTINGS) ?? '{}') };
  } catch {
    // Broken settings are what the page itself throws away.
  }
  const merged: Record<string, unknown> = { ...preferred, ...settings };
  if (Object.keys(merged).length > Object.keys(settings).length) {
    storage.setItem(SETTINGS, JSON.stringify(merged));
  }
  return merged.autoReload === true;
}

/**
 * Press the page's own reload button, which keeps everything else as it is.
 *
 * @returns Whether there is one: not in a page that has not loaded.
 */
export function pressReload(page: Document): boolean {
  const button = page.querySelector<HTMLElement>('app-header-reload button');
  button?.click();
  return button !== null;
}

/**
 * Tell the page whether it is seen.
 *
 * In a tab of the lab that is behind another one it takes itself for visible; it would reload every
 * 30 s, and its process would never be idle.
 */
export function tellVisibility(page: Document, visible: boolean): void {
  if (visible) {
    // Its own properties hid those that tell about the browser's tab.
    Reflect.deleteProperty(page, 'visibilityState');
    Reflect.deleteProperty(page, 'hidden');
  } else {
    const configurable = true;
    Object.defineProperties(page, {
      visibilityState: { value: 'hidden', configurable },
      hidden: { value: true, configurable }
    });
  }
  page.dispatchEvent(new Event('visibilitychange'));
}

/**
 * Find the headers of a page that forbid the browser to show the page in a frame of the same origin.
 *
 * @returns The headers as they stand in the answer; none if the page allows it, or does not answer.
 */
export async function frameRefusals(url: string): Promise<string[]> {
  const { headers } = await fetch(url, { cache: 'no-store' });
  const ancestors = (headers.get('Content-Security-Policy') ?? '')
    .split(/[;,]/)
    .map(directive => directive.trim())
    .filter(directive => /^frame-ancestors\b/i.test(directive));
  if (ancestors.length > 0) {
    // A browser does not look at X-Frame-Options then.
    return ancestors
      .filter(directive => !/'self'|\s\*/.test(directive))
      .map(directive => `Content-Security-Policy: ${directive}`);
  }
  const options = headers.get('X-Frame-Options');
  return options !== null && !/sameorigin/i.test(options)
    ? [`X-Frame-Options: ${options}`]
    : [];
}

/** The page's address with the lab's theme. */
export function themedUrl(url: string, dark: boolean): string {
  return `${url.replace(/\/*$/, '/')}?darkMode=${dark}`;
}

/** What a tab shows: a job's log directories, or a folder. Survives a reload of the page. */
export interface ITensorBoardSource {
  jobId?: string;
  paths?: string[];
}

/** Tells sources apart. */
export function keyOf({ jobId, paths }: ITensorBoardSource): string {
  return jobId ?? (paths ?? []).join('|');
}
