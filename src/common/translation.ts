import {
  ITranslator,
  nullTranslator,
  TranslationBundle
} from '@jupyterlab/translation';
import { setLocale } from './format';

/** The translation domain of everything that this extension shows. */
export const DOMAIN = 'jupyterlab_t9kjob';

/** Load this extension's translations, and write dates in their language; English without a translator. */
export function loadTranslation(
  translator: ITranslator | null
): TranslationBundle {
  const known = translator ?? nullTranslator;
  setLocale(known.languageCode);
  return known.load(DOMAIN);
}
