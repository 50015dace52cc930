/** Older settings of the lab, each of which hides several kinds of notices. */
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Notice } from '../api/types';

/** Return the name of the setting that hides a kind of notices in the lab when it is off; null if none does. */
export function mutingSetting(
  kind: Notice['kind']
): 'notifyWhenStuck' | 'notifyWhenEnded' | null {
  if (kind === 'no_progress') {
    return 'notifyWhenStuck';
  }
  return /^(failed|succeeded)/.test(kind) ? 'notifyWhenEnded' : null;
}

/**
 * Return true if an older setting hides a kind of notices in the lab.
 *
 * @param kind - The kind of the notices.
 * @param settings - The user's settings; null or undefined if they can't be read.
 */
export function isMuted(
  kind: Notice['kind'],
  settings: ISettingRegistry.ISettings | null | undefined
): boolean {
  const name = mutingSetting(kind);
  return name !== null && settings?.get(name).composite === false;
}
