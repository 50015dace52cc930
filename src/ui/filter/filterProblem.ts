/** Texts about errors of filter expressions. */
import { TranslationBundle } from '@jupyterlab/translation';
import { FilterProblem } from '../../common/filter/parse';

/**
 * Return what is wrong with a filter.
 *
 * @param unknown - Sentence for a name that no row has.
 */
export function problemText(
  { code, word, place }: FilterProblem,
  unknown: string,
  trans: TranslationBundle
): string {
  const column = place.start + 1;
  switch (code) {
    case 'unknown':
      return unknown;
    case 'name':
      return trans.__('Column %1: enter the name of a column.', column);
    case 'operator':
      return trans.__(
        'Column %1: enter a comparison such as <, =, ~ or in, not “%2”.',
        column,
        word
      );
    case 'value':
      return trans.__('Column %1: enter a value.', column);
    case 'number':
      return trans.__('Column %1: “%2” is not a number.', column, word);
    case 'list':
      return trans.__('Column %1: enter values in parentheses.', column);
    case 'close':
      return trans.__('Column %1: a closing parenthesis is missing.', column);
    case 'quote':
      return trans.__('Column %1: the closing quote is missing.', column);
    case 'extra':
      return trans.__(
        'Column %1: enter “and” or “or” before “%2”.',
        column,
        word
      );
    case 'deep':
      return trans.__('Column %1: too many parentheses.', column);
  }
}
