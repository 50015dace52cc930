/** Functions that rely on the implementation of TensorBoard's own page. */

/** Key of the page's settings in the local storage, which all TensorBoards of this origin share. */
const SETTINGS = '_tb_global_settings';

/**
 * Change two defaults of the page: enable auto-reload, and close the settings pane. The user's
 * own settings are kept.
 *
 * @returns True if auto-reload is enabled; the page then reloads its data every 30 s at most.
 */
export function preferSettings(storage: Storage): boolean {
  const preferred = { autoReload: true, timeSeriesSettingsPaneOpened: false };
  let settings: Record<string, unknown> = {};
  try {
    settings = { ...JSON.parse(storage.getItem(SETTINGS) ?? '{}') };
  } catch {
    // The page itself discards settings that it cannot parse.
  }
  const merged: Record<string, unknown> = { ...preferred, ...settings };
  if (Object.keys(merged).length > Object.keys(settings).length) {
    storage.setItem(SETTINGS, JSON.stringify(merged));
  }
  return merged.autoReload === true;
}

/**
 * Click the page's reload button, which loads new data and keeps the current view.
 *
 * @returns True if the button exists; a page that has not loaded has none.
 */
export function pressReload(page: Document): boolean {
  const button = page.querySelector<HTMLElement>('app-header-reload button');
  button?.click();
  return button !== null;
}

/**
 * Set the visibility that the page reads.
 *
 * A frame in a hidden JupyterLab tab counts as visible. Its page would reload data every 30 s, and the process
 * would never become idle.
 *
 * @param page - Document of the page.
 * @param visible - True if the tab is visible.
 */
export function tellVisibility(page: Document, visible: boolean): void {
  if (visible) {
    // The document's own properties override those of its prototype; without them, the browser's values apply
    // again.
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
 * Return the headers of a page that forbid the browser to show the page in a frame of the same origin.
 *
 * @param url - URL of the page.
 * @returns The headers; none if the page can be shown, or if it does not answer.
 */
export async function frameRefusals(url: string): Promise<string[]> {
  const { headers } = await fetch(url, { cache: 'no-store' });
  const ancestors = (headers.get('Content-Security-Policy') ?? '')
    .split(/[;,]/)
    .map(directive => directive.trim())
    .filter(directive => /^frame-ancestors\b/i.test(directive));
  if (ancestors.length > 0) {
    // Browsers ignore X-Frame-Options if frame-ancestors is set.
    return ancestors
      .filter(directive => !/'self'|\s\*/.test(directive))
      .map(directive => `Content-Security-Policy: ${directive}`);
  }
  const options = headers.get('X-Frame-Options');
  return options !== null && !/sameorigin/i.test(options)
    ? [`X-Frame-Options: ${options}`]
    : [];
}

/** Return the page's URL with the parameter for JupyterLab's theme. */
export function themedUrl(url: string, dark: boolean): string {
  return `${url.replace(/\/*$/, '/')}?darkMode=${dark}`;
}
