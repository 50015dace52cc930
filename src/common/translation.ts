/** Loading of this extension's translations. */

import {
  ITranslator,
  nullTranslator,
  TranslationBundle
} from '@jupyterlab/translation';
import { setLocale } from './format';

/** The translation domain of all texts of this extension. */
export const DOMAIN = 'jupyterlab_t9kjob';

/** Load the translations, and write dates in the same language; English without a translator. */
export function loadTranslation(
  translator: ITranslator | null
): TranslationBundle {
  const known = translator ?? nullTranslator;
  setLocale(known.languageCode);
  return known.load(DOMAIN);
}
