/** What we know of TensorBoard's own page. */

/** Where the page keeps its settings, which is shared by all TensorBoards of this origin. */
const SETTINGS = '_tb_global_settings';

/**
 * Switch auto-reload on, which is off at first; a user's own choice stays.
 *
 * @returns Whether the page reloads by itself, every 30 s at best.
 */
export function preferAutoReload(storage: Storage): boolean {
  let settings: Record<string, unknown> = {};
  try {
    settings = JSON.parse(storage.getItem(SETTINGS) ?? '{}');
  } catch {
    // Broken settings are what the page itself throws away.
  }
  if (settings.autoReload === undefined) {
    settings.autoReload = true;
    storage.setItem(SETTINGS, JSON.stringify(settings));
  }
  return settings.autoReload === true;
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

/** The page's address with the lab's theme. */
export function themedUrl(url: string, dark: boolean): string {
  return `${url.replace(/\/*$/, '/')}?darkMode=${dark}`;
}
