import {
  ITranslator,
  nullTranslator,
  TranslationBundle
} from '@jupyterlab/translation';

/** The translation domain of everything that this extension shows. */
export const DOMAIN = 'jupyterlab_t9kjob';

/** Load this extension's translations; English without a translator. */
export function loadTranslation(
  translator: ITranslator | null
): TranslationBundle {
  return (translator ?? nullTranslator).load(DOMAIN);
}
